import i18next from 'i18next';
import type { Words } from '../locales/words.ts';
import { prefer, usePreferences, type Language } from '../stores/preferences.ts';

interface Part {
  words: object;
}
interface Parts {
  first: () => Promise<Part>;
  features: () => Promise<Part>;
}
// Each language has two chunks, loaded on demand: the sign-in page's texts, and the rest.
const loaders: Record<Language, Parts> = {
  'zh-TW': { first: () => import('../locales/zh-TW/words.ts'), features: () => import('../locales/zh-TW/features.ts') },
  'zh-CN': { first: () => import('../locales/zh-CN/words.ts'), features: () => import('../locales/zh-CN/features.ts') },
  en: { first: () => import('../locales/en/words.ts'), features: () => import('../locales/en/features.ts') },
};

type Singular<Key extends string> = Key extends `${infer Base}_${'one' | 'other'}` ? Base : Key;
type Leaves<T, Before extends string> = {
  [Key in keyof T & string]: T[Key] extends string ? `${Before}${Singular<Key>}` : Leaves<T[Key], `${Before}${Key}.`>;
}[keyof T & string];
/** All message keys, such as `zones.create`. */
export type Word = Leaves<Words, ''>;
export type Values = Record<string, string | number>;
export type T = (word: Word, values?: Values) => string;

/** Adds messages of a language and makes it current. */
export function learn(language: Language, words: object) {
  if (!i18next.isInitialized)
    void i18next.init({
      lng: language,
      fallbackLng: false,
      initAsync: false,
      resources: {},
      // Some keys are messages and contain colons.
      nsSeparator: false,
      interpolation: { escapeValue: false },
      // A missing value is shown as its placeholder.
      missingInterpolationHandler: (_text, match: RegExpExecArray) => match[0],
    });
  i18next.addResourceBundle(language, 'translation', words, true, true);
  if (i18next.language !== language) void i18next.changeLanguage(language);
  if (globalThis.document) document.documentElement.lang = language;
}

export async function startLanguage() {
  const { language } = usePreferences.getState();
  learn(language, (await loaders[language].first()).words);
}

let inside = false;

/** Called before the first page behind the sign-in. */
export async function learnFeatures() {
  inside = true;
  const language = currentLanguage();
  learn(language, (await loaders[language].features()).words);
}

/** Changes the language without losing form input. */
export async function speak(language: Language) {
  const { first, features } = loaders[language];
  const parts = await Promise.all(inside ? [first(), features()] : [first()]);
  for (const { words } of parts) learn(language, words);
  prefer({ language });
}

/** For code outside of components. `useT` re-renders on a language change. */
export const t: T = (word, values = {}) => i18next.t(word, values);

/** Translation of a computed key, or null. */
export function tMaybe(word: string, values: Values = {}): string | null {
  const phrase = i18next.t(word, values);
  // i18next returns the key for unknown messages and for groups.
  return phrase === word ? null : phrase;
}

const uninterpolated = (word: string, values: Values) => i18next.t(word, { ...values, skipInterpolation: true });

/** A message with its placeholders, or null. */
export function rawPhrase(word: string): string | null {
  const found: unknown = i18next.getResource(i18next.language, 'translation', word);
  return typeof found === 'string' ? found : null;
}

/** Names of a message's placeholders: `port` of "does not open port {{port}}". */
export const namesIn = (word: string) =>
  [...uninterpolated(word, {}).matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, name = '']) => name);

/** Splits a message with marks, `Type <0>{{text}}</0> to confirm`. `mark` is the mark's number. */
export function partsOf(word: string, values: Values = {}) {
  const fill = (text: string) => i18next.services.interpolator.interpolate(text, values, currentLanguage(), {});
  return [...uninterpolated(word, values).matchAll(/<(\d)>(.*?)<\/\1>|[^<]+|</g)].map(([text, mark, marked = '']) =>
    mark === undefined ? { text: fill(text), mark: null } : { text: fill(marked), mark: Number(mark) },
  );
}

export function useT(): T {
  useLanguage();
  return t;
}

export const currentLanguage = () => usePreferences.getState().language;
export const useLanguage = () => usePreferences((preferences) => preferences.language);
