// The phrases of the sign-in page. i18next would be a tenth of its script, so i18next loads after the sign-in
// (i18next-phrases.ts).

export type Values = Record<string, string | number>;

export interface Phrases {
  /** Adds words to a language, which becomes the current one. */
  learn: (language: string, words: object) => void;
  /** The phrase of a key with its placeholders. `count` selects the plural form. Null: no such phrase. */
  find: (word: string, values: Values) => string | null;
  /** A placeholder without a value stays as it is. */
  fill: (phrase: string, values: Values) => string;
}

type Words = { [key: string]: string | Words };

export const placeholder = /\{\{\s*(\w+)\s*\}\}/g;

export function plainPhrases(): Phrases {
  let language = '';
  let words: Words = {};
  return {
    learn(learned, more) {
      words = learned === language ? { ...words, ...more } : { ...more };
      language = learned;
    },
    find(word, { count }) {
      const plural = typeof count === 'number' && at(words, `${word}_${new Intl.PluralRules(language).select(count)}`);
      return plural || at(words, word);
    },
    fill: (phrase, values) =>
      phrase.replaceAll(placeholder, (text, name: string) => String(name in values ? values[name] : text)),
  };
}

/** A key may contain dots: `errors.messages.Use a.b`. */
function at(words: Words, key: string): string | null {
  const found = Object.hasOwn(words, key) ? words[key] : null;
  if (typeof found === 'string') return found;
  for (let dot = key.indexOf('.'); dot > 0; dot = key.indexOf('.', dot + 1)) {
    const head = key.slice(0, dot);
    const group = Object.hasOwn(words, head) ? words[head] : undefined;
    const phrase = typeof group === 'object' ? at(group, key.slice(dot + 1)) : null;
    if (phrase !== null) return phrase;
  }
  return null;
}
