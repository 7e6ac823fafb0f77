import i18next, { type TOptions } from 'i18next';
import { initReactI18next, useTranslation } from 'react-i18next';
import type { Words } from '../locales/words.ts';
import { prefer, usePreferences, type Language } from '../stores/preferences.ts';

interface Part {
  words: object;
}
interface Parts {
  first: () => Promise<Part>;
  features: () => Promise<Part>;
}
// A language is two chunks, fetched when it is first asked for: what the sign-in page says, and the rest.
const loaders: Record<Language, Parts> = {
  'zh-TW': { first: () => import('../locales/zh-TW/words.ts'), features: () => import('../locales/zh-TW/features.ts') },
  'zh-CN': { first: () => import('../locales/zh-CN/words.ts'), features: () => import('../locales/zh-CN/features.ts') },
  en: { first: () => import('../locales/en/words.ts'), features: () => import('../locales/en/features.ts') },
};

type Singular<Key extends string> = Key extends `${infer Base}_${'one' | 'other'}` ? Base : Key;
type Leaves<T, Before extends string> = {
  [Key in keyof T & string]: T[Key] extends string ? `${Before}${Singular<Key>}` : Leaves<T[Key], `${Before}${Key}.`>;
}[keyof T & string];
/** Every phrase of the product, by its key: `zones.create`. */
export type Word = Leaves<Words, ''>;
export type Values = Record<string, string | number>;
export type T = (word: Word, values?: Values) => string;

export async function startLanguage() {
  const { language } = usePreferences.getState();
  const { words } = await loaders[language].first();
  await i18next.use(initReactI18next).init({
    lng: language,
    fallbackLng: false,
    // Keys hold a message's own words, colons included.
    nsSeparator: false,
    resources: { [language]: { translation: words } },
    // React escapes what it renders.
    interpolation: { escapeValue: false },
    react: { useSuspense: false },
  });
  document.documentElement.lang = language;
}

let inside = false;

/** Before the first page behind the sign-in. */
export async function learnFeatures() {
  inside = true;
  const language = currentLanguage();
  const { words } = await loaders[language].features();
  i18next.addResourceBundle(language, 'translation', words, true, true);
}

/** The page stays as it is, forms included: the words arrive, then everything is said anew. */
export async function speak(language: Language) {
  const { first, features } = loaders[language];
  const parts = await Promise.all(inside ? [first(), features()] : [first()]);
  for (const { words } of parts) i18next.addResourceBundle(language, 'translation', words, true, true);
  await i18next.changeLanguage(language);
  document.documentElement.lang = language;
  prefer({ language });
}

const say = (word: string, values: TOptions = {}): string => i18next.t(word, values);

/** For code outside components; inside one, `useT` also follows a change of language. */
export const t: T = (word, values) => say(word, values);

/** A phrase whose key is put together from names: null where the language files have none. */
export const tMaybe = (word: string, values?: Values): string | null =>
  i18next.exists(word, values ?? {}) ? say(word, values) : null;

/** The values that a phrase names: `port` of "does not open port {{port}}". */
export const namesIn = (word: string) =>
  [...say(word, { skipInterpolation: true }).matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, name = '']) => name);

export function useT(): T {
  useTranslation();
  return t;
}

export const currentLanguage = () => usePreferences.getState().language;
export const useLanguage = () => usePreferences((preferences) => preferences.language);
