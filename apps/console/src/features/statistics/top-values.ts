import type { topTypes } from '@edgeloom/contract/statistics/statistics.ts';
import { t, tMaybe } from '../../lib/i18n.ts';
import type { Language } from '../../lib/languages.ts';

export type TopKind = keyof typeof topTypes;

const regions = new Map<Language, Intl.DisplayNames>();

/** The country's name in the console's language; a code that no language knows stays a code. */
export function countryName(code: string, language: Language): string {
  if (!/^[A-Z]{2}$/.test(code)) return code;
  let names = regions.get(language);
  if (!names) regions.set(language, (names = new Intl.DisplayNames(language, { type: 'region', fallback: 'code' })));
  return names.of(code) ?? code;
}

/** The text of a value of a top. */
export function valueName(kind: TopKind, value: string, language: Language): string {
  if (value === '') return t(kind === 'referer' ? 'statistics.noReferer' : 'statistics.unknown');
  if (kind === 'country')
    return value === 'ZZ' || value === 'XX' ? t('statistics.unknown') : countryName(value, language);
  if (kind === 'blacklist')
    return tMaybe(`statistics.causes.${value}`) ?? tMaybe(`ipset.choices.causes.${value}`) ?? value;
  return value;
}
