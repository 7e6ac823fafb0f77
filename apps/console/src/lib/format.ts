// Number and time formats, language-independent unless a language is passed. No-break spaces join numbers and units.
import type { Language } from './languages.ts';
import { usePreferences } from '../stores/preferences.ts';

const nbsp = '\u00a0';
const minus = (text: string) => text.replace('-', '−');
export const nothing = '—';

const byteUnits = ['Byte', 'KB', 'MB', 'GB', 'TB', 'PB', 'EB', 'ZB', 'YB'] as const;
const bitUnits = ['bps', 'Kbps', 'Mbps', 'Gbps', 'Tbps', 'Pbps'] as const;

/** Steps of 1,000, with two decimals from the first prefix on. */
function scaled(value: number, units: readonly string[]) {
  let rest = Math.abs(value);
  let step = 0;
  // 999.995 would be rounded to 1000.00 of the smaller unit.
  while (rest >= 999.995 && step < units.length - 1) {
    rest /= 1000;
    step += 1;
  }
  const number = step === 0 ? String(Math.round(rest)) : rest.toFixed(2);
  return `${value < 0 ? '−' : ''}${number}${nbsp}${units[step]}`;
}
export const bytes = (value: number) => scaled(value, byteUnits);
export const bits = (value: number) => scaled(value, bitUnits);

const grouped = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });
const shortSteps = [
  [1e9, 'B'],
  [1e6, 'M'],
] as const;

/** Exact below a million; above, two decimals and M or B. */
export function count(value: number) {
  for (const [step, letter] of shortSteps)
    if (Math.abs(value) >= step) return `${minus((value / step).toFixed(2))}${letter}`;
  return minus(grouped.format(value));
}

const tenThousands = { 'zh-TW': ['萬', '億'], 'zh-CN': ['万', '亿'] } as const;

/** For key figures and sentences; Chinese uses units of ten thousand. */
export function spokenCount(value: number, language: Language) {
  if (language === 'en' || Math.abs(value) < 1e6) return count(value);
  const [wan, yi] = tenThousands[language];
  return Math.abs(value) >= 1e8
    ? `${minus((value / 1e8).toFixed(2))}${nbsp}${yi}`
    : `${minus((value / 1e4).toFixed(2))}${nbsp}${wan}`;
}

export const percent = (share: number) => `${minus((share * 100).toFixed(2))}%`;
/** Amounts are in NTD cents. */
export const money = (cents: number) => `NTD${nbsp}${minus((cents / 100).toFixed(2))}`;

/** Year 0 means "never", like a missing value. */
export function dateOf(text: string | Date | null | undefined) {
  if (text === null || text === undefined || text === '') return null;
  const date = new Date(text);
  return Number.isNaN(date.getTime()) || date.getUTCFullYear() <= 1 ? null : date;
}

const dated: Intl.DateTimeFormatOptions = {
  hourCycle: 'h23',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'longOffset',
};
// Creating a DateTimeFormat costs a hundred times a format call.
const written = new Map<string | null, Intl.DateTimeFormat>();

/** Formats in the chosen time zone, or in the browser's if unknown. */
function writer() {
  const zone = usePreferences.getState().timeZone;
  const known = written.get(zone);
  if (known) return known;
  let made: Intl.DateTimeFormat;
  try {
    made = new Intl.DateTimeFormat('en', { ...dated, ...(zone !== null && { timeZone: zone }) });
  } catch {
    made = new Intl.DateTimeFormat('en', dated);
  }
  written.set(zone, made);
  return made;
}
/** The chosen time zone, or the browser's if unknown. */
export const consoleZone = () => writer().resolvedOptions().timeZone;

const partsOf = (at: Date): Partial<Record<Intl.DateTimeFormatPartTypes, string>> =>
  Object.fromEntries(
    writer()
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );

export function time(text: string | Date | null | undefined, { milliseconds = false } = {}) {
  const at = dateOf(text);
  if (!at) return nothing;
  const { year, month, day, hour, minute, second } = partsOf(at);
  const exact = milliseconds ? `.${String(at.getUTCMilliseconds()).padStart(3, '0')}` : '';
  return `${year}/${month}/${day} ${hour}:${minute}:${second}${exact}`;
}
export const clock = (at: Date) => time(at).slice(11);

export const utc = (at: Date) => `${at.toISOString().slice(0, 19).replace('T', ' ').replaceAll('-', '/')} UTC`;

/** Current UTC offset: `UTC+8`, `UTC−3:30`. */
export function zoneName(at = new Date()) {
  const [, sign = '+', hours = '0', minutes = '00'] = /GMT([+-])(\d+):(\d+)/.exec(partsOf(at).timeZoneName ?? '') ?? [];
  return `UTC${minus(sign)}${Number(hours)}${minutes === '00' ? '' : `:${minutes}`}`;
}

const relativeSteps = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

export function relative(at: Date, now: Date, language: Language) {
  const words = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  const seconds = (at.getTime() - now.getTime()) / 1000;
  for (const [unit, size] of relativeSteps)
    if (Math.abs(seconds) >= size) return words.format(Math.trunc(seconds / size), unit);
  return words.format(Math.trunc(seconds), 'second');
}

const durationUnits = {
  en: [' d', ' h', ' min', ' s'],
  'zh-TW': [' 天', ' 小時', ' 分', ' 秒'],
  'zh-CN': [' 天', ' 小时', ' 分', ' 秒'],
} as const;

/** The two largest non-zero units: `3 min 12 s`, `30 d`. */
export function duration(seconds: number, language: Language) {
  const sizes = [86_400, 3600, 60, 1] as const;
  let rest = Math.max(0, Math.round(seconds));
  const parts: string[] = [];
  for (const [i, size] of sizes.entries()) {
    const amount = Math.floor(rest / size);
    rest -= amount * size;
    if (amount > 0) parts.push(`${amount}${durationUnits[language][i]?.replace(' ', nbsp)}`);
  }
  return parts.slice(0, 2).join(' ') || `0${durationUnits[language][3].replace(' ', nbsp)}`;
}

/** Duration of a call; milliseconds below a second. */
export const took = (milliseconds: number) =>
  milliseconds < 1000 ? `${Math.round(milliseconds)}${nbsp}ms` : `${(milliseconds / 1000).toFixed(2)}${nbsp}s`;

/** The same for long durations: `41.60 s`, `3 min 12 s`. */
export const lasted = (milliseconds: number, language: Language) =>
  milliseconds < 60_000 ? took(Math.max(0, milliseconds)) : duration(milliseconds / 1000, language);
