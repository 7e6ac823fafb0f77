// Names of countries in the languages of the console.
import { currentLanguage } from './i18n.ts';
import type { Language } from './languages.ts';

const namesByLanguage = new Map<Language, Intl.DisplayNames>();
function namesIn(language: Language): Intl.DisplayNames {
  const names =
    namesByLanguage.get(language) ?? new Intl.DisplayNames([language], { type: 'region', fallback: 'none' });
  namesByLanguage.set(language, names);
  return names;
}

/** Falls back to the code. */
export const countryName = (code: string, language: Language = currentLanguage()): string =>
  (/^[A-Z]{2}$/.test(code) && namesIn(language).of(code)) || code;

/** Codes of all countries, by name. */
export function countries(): string[] {
  const letters = Array.from({ length: 26 }, (_, i) => String.fromCharCode(65 + i));
  // Intl also has names for codes that are not countries.
  const others = new Set(['EU', 'EZ', 'UN', 'QO', 'XA', 'XB', 'ZZ']);
  const order = new Intl.Collator(currentLanguage());
  return letters
    .flatMap((first) => letters.map((second) => first + second))
    .filter((code) => !others.has(code) && namesIn(currentLanguage()).of(code) !== undefined)
    .toSorted((a, b) => order.compare(countryName(a), countryName(b)));
}
