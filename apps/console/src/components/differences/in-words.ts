// Formats values of a version with the labels of their feature.
import { count, duration } from '../../lib/format.ts';
import { currentLanguage, t, tMaybe, type Values, type Word } from '../../lib/i18n.ts';
import { fieldTitle } from '../resource-table/columns.tsx';

export const kindName = (kind: string) => tMaybe(`versions.kinds.${kind}`) ?? tMaybe(`${kind}.name`) ?? kind;

/** `2 cache rules` */
export const countedKind = (kind: string, of: number) =>
  firstOf([`versions.counted.${kind}`, `${kind}.countedNoun`], { count: of, number: count(of) }) ??
  `${count(of)} ${kindName(kind)}`;

/** Locale namespaces of kinds whose feature has another name. */
const wordsOf: Readonly<Record<string, readonly string[]>> = {
  cacheRules: ['cache'],
  cacheSettings: ['cache'],
  compressions: ['compression'],
  upstreams: ['origins'],
  portRules: ['ports'],
  portUpstreams: ['origins'],
  antiReferers: ['hotlink'],
  antiHeaders: ['hotlink'],
  modules: ['customHeaders', 'cors', 'proxyRewrites', 'urlRedirects', 'tokenAuths'],
};
const featuresOf = (kind: string) => ['versions', ...(wordsOf[kind] ?? [kind])];

/** `settings.maxAge` uses the label of `maxAge`. */
const lastOf = (field: string) => field.slice(field.lastIndexOf('.') + 1);

const firstOf = (words: readonly string[], values?: Values) => {
  for (const word of words) {
    const found = tMaybe(word, values);
    if (found !== null) return found;
  }
  return null;
};

export function titleOf(kind: string, field: string): string {
  const name = lastOf(field);
  const features = featuresOf(kind).toReversed();
  return firstOf(features.map((feature) => `${feature}.fields.${name}`)) ?? fieldTitle(features[0] ?? kind, name);
}

/** One line per list entry, otherwise one line. */
export function linesOf(kind: string, field: string, value: unknown): string[] {
  if (Array.isArray(value) && value.length > 0) return value.map((part: unknown) => written(kind, field, part));
  return [written(kind, field, value)];
}

/** Switches with labels other than on and off. */
const sides: Readonly<Record<string, readonly [on: Word, off: Word]>> = {
  'antiReferers.isBlack': ['hotlink.choices.list.black', 'hotlink.choices.list.white'],
  'upstreams.backup': ['origins.backup', 'origins.main'],
  'portUpstreams.backup': ['origins.backup', 'origins.main'],
};

export const NOTHING = '—';
const seconds = /Seconds$|^(?:cacheTime|minTime|maxTime|browserTime|staleWhileRevalidate|staleIfError|maxAge)$/;

function written(kind: string, field: string, value: unknown): string {
  const name = lastOf(field);
  if (value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0))
    return NOTHING;
  if (typeof value === 'boolean' || typeof value === 'string' || typeof value === 'number') {
    const choice = firstOf(featuresOf(kind).map((feature) => `${feature}.choices.${name}.${String(value)}`));
    if (choice !== null) return choice;
    if (name === 'kind') return firstOf([`${String(value)}s.title`, `${String(value)}.title`]) ?? String(value);
    if (name === 'type' && typeof value === 'string') return tMaybe(`shared.paths.choice.${value}`) ?? value;
  }
  if (typeof value === 'boolean') {
    const [on, off] = sides[`${kind}.${name}`] ?? ['common.on', 'common.off'];
    return t(value ? on : off);
  }
  if (typeof value === 'number') {
    if (seconds.test(name)) return duration(value, currentLanguage());
    if (name.endsWith('Bytes')) return count(value);
    const unit = tMaybe(`${kind}.units.${name}`);
    return unit === null ? String(value) : `${count(value)}${unit}`;
  }
  if (Array.isArray(value)) return value.map((part: unknown) => written(kind, field, part)).join(t('common.comma'));
  if (typeof value === 'object')
    return Object.entries(value)
      .map(([part, inner]): [string, string] => [part, written(kind, part, inner)])
      .filter(([part, said]) => part !== 'id' && said !== NOTHING)
      .map(([part, said]) => `${titleOf(kind, part)}${t('common.colon')}${said}`)
      .join(t('common.semicolon'));
  return String(value);
}
