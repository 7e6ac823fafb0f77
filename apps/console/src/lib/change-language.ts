import type { Language } from './languages.ts';
import { toastError } from './errors.ts';
import { speak } from './i18n.ts';

/** The language does not change when its phrases cannot be loaded. */
export const changeLanguage = (language: Language) => speak(language).catch((error: unknown) => toastError(error));
