import type { Words } from '../locales/words.ts';
import { prefer, usePreferences, type Language } from '../stores/preferences.ts';

interface Part {
  words: object;
}
interface Parts {
  first: () => Promise<Part>;
  features: () => Promise<Part>;
}
// A language is two chunks, loaded when somebody chooses it: the words of the sign-in page, and the rest.
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

/** The phrases of the current language by their key, `zones.fields.name`. */
let phrases = new Map<string, string>();
let phrasesLanguage: Language | null = null;
let plurals = new Intl.PluralRules('en');

/** Adds words to the current language; those of another one replace it. */
export function learn(language: Language, words: object) {
  if (language !== phrasesLanguage) {
    phrases = new Map();
    phrasesLanguage = language;
    plurals = new Intl.PluralRules(language);
  }
  addPhrases(words, '');
  if (globalThis.document) document.documentElement.lang = language;
}

function addPhrases(words: object, before: string) {
  for (const [key, value] of Object.entries(words)) {
    if (typeof value === 'string') phrases.set(before + key, value);
    else if (typeof value === 'object' && value !== null) addPhrases(value, `${before}${key}.`);
  }
}

export async function startLanguage() {
  const { language } = usePreferences.getState();
  learn(language, (await loaders[language].first()).words);
}

let inside = false;

/** Before the first page behind the sign-in. */
export async function learnFeatures() {
  inside = true;
  const language = currentLanguage();
  learn(language, (await loaders[language].features()).words);
}

/** The page stays as it is, forms included: the words arrive, then everything is said anew. */
export async function speak(language: Language) {
  const { first, features } = loaders[language];
  const parts = await Promise.all(inside ? [first(), features()] : [first()]);
  for (const { words } of parts) learn(language, words);
  prefer({ language });
}

/** With a count, the plural form where the phrase has one. */
const find = (word: string, count: unknown) =>
  (typeof count === 'number' ? phrases.get(`${word}_${plurals.select(count)}`) : undefined) ?? phrases.get(word);

const fill = (phrase: string, values: Values) =>
  phrase.replace(/\{\{\s*(\w+)\s*\}\}/g, (whole, name: string) => String(values[name] ?? whole));

/** For code outside components; inside one, `useT` also follows a change of language. */
export const t: T = (word, values = {}) => fill(find(word, values['count']) ?? word, values);

/** A phrase whose key is put together from names: null where the language files have none. */
export function tMaybe(word: string, values: Values = {}): string | null {
  const phrase = find(word, values['count']);
  return phrase === undefined ? null : fill(phrase, values);
}

/** The values that a phrase names: `port` of "does not open port {{port}}". */
export const namesIn = (word: string) =>
  [...(phrases.get(word) ?? '').matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, name = '']) => name);

/** A phrase with marked parts, `Type <0>{{text}}</0> to confirm`, in pieces: `mark` is the number of the mark. */
export function partsOf(word: string, values: Values = {}) {
  const phrase = find(word, values['count']) ?? word;
  return [...phrase.matchAll(/<(\d)>(.*?)<\/\1>|[^<]+|</g)].map(([text, mark, marked = '']) =>
    mark === undefined ? { text: fill(text, values), mark: null } : { text: fill(marked, values), mark: Number(mark) },
  );
}

export function useT(): T {
  useLanguage();
  return t;
}

export const currentLanguage = () => usePreferences.getState().language;
export const useLanguage = () => usePreferences((preferences) => preferences.language);
