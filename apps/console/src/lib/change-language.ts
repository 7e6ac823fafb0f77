import type { Language } from '../stores/preferences.ts';
import { toastError } from './errors.ts';
import { speak } from './i18n.ts';

/** The language stays as it is when its words cannot be loaded. */
export const changeLanguage = (language: Language) => speak(language).catch((error: unknown) => toastError(error));
