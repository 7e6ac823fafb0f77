import type { Words } from '../locales/words.ts';
import type { Language } from './languages.ts';
import { prefer, usePreferences } from '../stores/preferences.ts';
import { placeholder, plainPhrases, type Phrases, type Values } from './phrases.ts';
import { withinChunkLimit } from './time-limit.ts';

interface Part {
  words: object;
}
interface Parts {
  signIn: () => Promise<Part>;
  frame: () => Promise<Part>;
  pages: () => Promise<Part>;
}
// A language is three chunks, each loaded when it is first needed.
const loaders: Record<Language, Parts> = {
  'zh-TW': {
    signIn: () => import('../locales/zh-TW/words.ts'),
    frame: () => import('../locales/zh-TW/frame.ts'),
    pages: () => import('../locales/zh-TW/pages.ts'),
  },
  'zh-CN': {
    signIn: () => import('../locales/zh-CN/words.ts'),
    frame: () => import('../locales/zh-CN/frame.ts'),
    pages: () => import('../locales/zh-CN/pages.ts'),
  },
  en: {
    signIn: () => import('../locales/en/words.ts'),
    frame: () => import('../locales/en/frame.ts'),
    pages: () => import('../locales/en/pages.ts'),
  },
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

/** Each part that was asked for, and the language in which its words are known. */
const wanted = new Map<keyof Parts, Language | null>();

/** Returns the function that makes the words known. */
async function loadWords(language: Language, parts: readonly (keyof Parts)[]) {
  const loaded = await withinChunkLimit(Promise.all(parts.map((part) => loaders[language][part]())));
  return () => {
    for (const { words } of loaded) learn(language, words);
    for (const part of parts) wanted.set(part, language);
  };
}

async function learnPart(part: keyof Parts): Promise<void> {
  const language = currentLanguage();
  if (wanted.get(part) === language) return;
  if (!wanted.has(part)) wanted.set(part, null);
  const finish = await loadWords(language, [part]);
  // The reader may have chosen another language meanwhile.
  if (language === currentLanguage()) finish();
  else await learnPart(part);
}

export const startLanguage = () => learnPart('signIn');

let isInside = false;

/** Loads the phrases of the frame and the dashboards, before the first page behind the sign-in. */
export async function learnFrame() {
  const [{ i18nextPhrases }] = await withinChunkLimit(
    Promise.all([import('./i18next-phrases.ts'), loaders[currentLanguage()].frame()]),
  );
  if (!isInside) switchPhrases(i18nextPhrases());
  isInside = true;
  await learnPart('frame');
}

/** Loads the phrases of all other pages. */
export const learnPages = () => learnPart('pages');

/** Switches the language in place: the phrases are loaded, then the page renders again and forms keep their input. */
export async function speak(language: Language) {
  const parts = [...wanted.keys()];
  const finish = await loadWords(language, parts);
  // A page that opened meanwhile may have asked for more.
  if (wanted.size > parts.length) return speak(language);
  finish();
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
