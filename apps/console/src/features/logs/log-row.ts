import type { Received } from '@edgeloom/contract/endpoint.ts';
import type { logs } from '@edgeloom/contract/logs/logs.endpoints.ts';
import { currentLanguage, tMaybe } from '../../lib/i18n.ts';
import type { Language } from '../../lib/languages.ts';
import type { Tone } from '../../theme/tokens.ts';

export type LogRow = Received<typeof logs.request>;

const CLOSED = 444;

/** Tones of status families; 444 is a connection that the node closed. */
export function toneOfStatus(status: number): Tone {
  if (status === CLOSED) return 'off';
  const tones: Readonly<Record<number, Tone>> = { 2: 'ok', 3: 'busy', 4: 'warn', 5: 'bad', 9: 'held' };
  return tones[Math.floor(status / 100)] ?? 'unknown';
}

export type Decision = 'refused' | 'redirected' | 'monitored';
/** The effect of the row's cause on the request. Null without a cause. */
export function decisionOf({ cause, status }: Pick<LogRow, 'cause' | 'status'>): Decision | null {
  if (cause === '') return null;
  // A challenge and a refusal may have any status from 400. A rule that only monitors does not change the status.
  if (status >= 400) return 'refused';
  return status >= 300 ? 'redirected' : 'monitored';
}

export const causeName = (cause: string) =>
  tMaybe(`ipset.choices.causes.${cause}`) ?? tMaybe(`logs.causes.${cause}`) ?? cause;

/** The page of the site on which the cause's rules are edited. */
export const viewOfCause: Readonly<Record<string, string>> = {
  antiReferer: 'hotlink',
  antiHeader: 'hotlink',
  tokenAuth: 'tokens',
  urlRedirect: 'redirects',
};

const names = new Map<Language, Intl.DisplayNames>();
function displayNames() {
  const language = currentLanguage();
  const known = names.get(language) ?? new Intl.DisplayNames([language], { type: 'region', fallback: 'none' });
  names.set(language, known);
  return known;
}

/** Name of a country in the reader's language, else its code. */
export const countryName = (code: string) => (/^[A-Z]{2}$/.test(code) && displayNames().of(code)) || code;

/** Codes of all countries, by name. */
export function countries(): string[] {
  const letters = Array.from({ length: 26 }, (_, i) => String.fromCharCode(65 + i));
  // Intl also has names for codes that are not countries.
  const others = new Set(['EU', 'EZ', 'UN', 'QO', 'XA', 'XB', 'ZZ']);
  const order = new Intl.Collator(currentLanguage());
  return letters
    .flatMap((first) => letters.map((second) => first + second))
    .filter((code) => !others.has(code) && displayNames().of(code) !== undefined)
    .toSorted((a, b) => order.compare(countryName(a), countryName(b)));
}
