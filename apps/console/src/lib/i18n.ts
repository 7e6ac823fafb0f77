import type { Words } from '../locales/words.ts';
import type { Language } from './languages.ts';
import { prefer, usePreferences } from '../stores/preferences.ts';
import { placeholder, plainPhrases, type Phrases, type Values } from './phrases.ts';
import { withinChunkLimit } from './time-limit.ts';

interface Part {
  words: object;
}
interface Parts {
  first: () => Promise<Part>;
  features: () => Promise<Part>;
}
// A language is two chunks, loaded when it is first needed: the words of the sign-in page, and the rest.
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
export type { Values };
export type T = (word: Word, values?: Values) => string;

let phrases = plainPhrases();
const learned: [Language, object][] = [];

/** Adds words to a language, which becomes the current one. */
export function learn(language: Language, words: object) {
  learned.push([language, words]);
  phrases.learn(language, words);
  if (globalThis.document) document.documentElement.lang = language;
}

/** Replaces the phrase engine. */
export function switchPhrases(next: Phrases) {
  phrases = next;
  for (const [language, words] of learned) phrases.learn(language, words);
}

export async function startLanguage() {
  const { language } = usePreferences.getState();
  learn(language, (await withinChunkLimit(loaders[language].first())).words);
}

let inside = false;

/** Loads the phrases of all features, before the first page behind the sign-in. */
export async function learnFeatures() {
  const language = currentLanguage();
  const [{ i18nextPhrases }, { words }] = await withinChunkLimit(
    Promise.all([import('./i18next-phrases.ts'), loaders[language].features()]),
  );
  if (!inside) switchPhrases(i18nextPhrases());
  inside = true;
  learn(language, words);
}

/** Switches the language in place: the phrases are loaded, then the page renders again and forms keep their input. */
export async function speak(language: Language) {
  const { first, features } = loaders[language];
  const parts = await withinChunkLimit(Promise.all(inside ? [first(), features()] : [first()]));
  for (const { words } of parts) learn(language, words);
  prefer({ language });
}

/** For code outside components. `useT` also follows a change of language. */
export const t: T = (word, values = {}) => tMaybe(word, values) ?? word;

/** The phrase of a composed key. Null where the language files have none. */
export function tMaybe(word: string, values: Values = {}): string | null {
  const phrase = phrases.find(word, values);
  return phrase === null ? null : phrases.fill(phrase, values);
}

/** A phrase with its placeholders. Null where the language files have none. */
export const rawPhrase = (word: string) => phrases.find(word, {});

/** The names of a phrase's values: `port` of "does not open port {{port}}". */
export const namesIn = (word: string) =>
  [...(rawPhrase(word) ?? '').matchAll(placeholder)].map(([, name = '']) => name);

/** Splits a phrase with marked parts, `Type <0>{{text}}</0> to confirm`. `mark` is the number of the mark. */
export function partsOf(word: string, values: Values = {}) {
  const fill = (text: string) => phrases.fill(text, values);
  const phrase = phrases.find(word, values) ?? word;
  return [...phrase.matchAll(/<(\d)>(.*?)<\/\1>|[^<]+|</g)].map(([text, mark, marked = '']) =>
    mark === undefined ? { text: fill(text), mark: null } : { text: fill(marked), mark: Number(mark) },
  );
}

export function useT(): T {
  useLanguage();
  return t;
}

export const currentLanguage = () => usePreferences.getState().language;
export const useLanguage = () => usePreferences((preferences) => preferences.language);
