import type { topTypes } from '@edgeloom/contract/statistics/type-numbers.ts';
import { causeName } from '../../lib/cause-name.ts';
import { countryName } from '../../lib/countries.ts';
import { t } from '../../lib/i18n.ts';
import type { Language } from '../../lib/languages.ts';

export type TopKind = keyof typeof topTypes;

/** The text of a value of a top. */
export function valueName(kind: TopKind, value: string, language: Language): string {
  if (value === '') return t(kind === 'referer' ? 'statistics.noReferer' : 'statistics.unknown');
  if (kind === 'country')
    return value === 'ZZ' || value === 'XX' ? t('statistics.unknown') : countryName(value, language);
  if (kind === 'blacklist') return causeName(value);
  return value;
}
