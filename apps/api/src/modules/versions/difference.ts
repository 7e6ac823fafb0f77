// Describes a changed row as the API does: its field names, secrets masked, columns that only join rows left out.
import type { Difference } from '@edgeloom/contract/versions/versions.ts';
import type { Area } from '@edgeloom/contract/permissions.ts';
import type { FoldedRow } from '../../core/restore-site.ts';
import { siteRules } from '../../site-rules.ts';

/** Default values by entity and field. */
export type Defaults = ReadonlyMap<string, ReadonlyMap<string, unknown>>;

/**
 * Which area's calls write each table. Tables that are not listed are neither shown nor rolled back (a test checks
 * this).
 */
export const areaOf: Readonly<Record<string, Area>> = {
  domains: 'domain',
  upstreams: 'domain',
  anti_referers: 'firewall',
  modules: 'module',
  domain_modules: 'module',
  redirects: 'module',
  cache_settings: 'cache',
  compressions: 'cache',
  site_ports: 'site',
  port_rules: 'site',
  port_upstreams: 'site',
  ...Object.fromEntries(siteRules.map(({ table, area }) => [table, area])),
};

export const camel = (name: string) => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
/** Abbreviations as the calls spell them: `forceSSL`, `certificateID`. */
export const fieldName = (column: string) => camel(column).replace(/(?:Ssl|Tls|Id)$/, (end) => end.toUpperCase());

const joins = [
  'id',
  'site_id',
  'domain_id',
  'module_id',
  'port_rule_id',
  'zone_port_id',
  'created_at',
  'cache_version',
];
/** A site without such a row has the default settings, so the row never counts as added or removed. */
export const isSetting = (entity: string) => entity === 'cache_settings' || entity === 'compressions';

const isShown = (entity: string, column: string) =>
  !joins.includes(column) || (entity === 'domain_modules' && column === 'module_id');

/** An added or removed row lists what differs from the defaults, a changed row what changed. */
export function differenceOf(
  { entity, rowKey, label, parent, before, after }: FoldedRow,
  defaults: Defaults,
): Difference {
  const usual = defaults.get(entity) ?? new Map<string, unknown>();
  const action = isSetting(entity) ? 'changed' : before === null ? 'added' : after === null ? 'removed' : 'changed';
  const fieldsIn = (row: FoldedRow['before']) => (row === null && isSetting(entity) ? usual : fieldsOf(entity, row));
  const [old, now] = [fieldsIn(before), fieldsIn(after)];
  const parts = [...new Set([...old.keys(), ...now.keys()])]
    .map((field) => ({ field, before: old.get(field) ?? null, after: now.get(field) ?? null }))
    .filter((part) => JSON.stringify(part.before) !== JSON.stringify(part.after))
    .filter(({ field, before: was, after: is }) => {
      return action === 'changed' || JSON.stringify(action === 'added' ? is : was) !== JSON.stringify(usual.get(field));
    })
    .map(({ field, ...values }) => ({
      field,
      before: shown(field, values.before),
      after: shown(field, values.after),
    }));
  const fields = [...switches(before, after), ...parts];
  return { kind: camel(entity), key: rowKey, name: label, parent, action, fields };
}

/** An object that appears or disappears is a feature that was switched on or off: `healthCheck`. */
function switches(before: FoldedRow['before'], after: FoldedRow['before']): Difference['fields'] {
  if (before === null || after === null) return [];
  return Object.keys(after)
    .map((column) => ({ field: fieldName(column), before: isObject(before[column]), after: isObject(after[column]) }))
    .filter((part) => part.before !== part.after);
}

/** An object in a column is listed field by field: `settings.allowOrigins`. */
function fieldsOf(entity: string, row: FoldedRow['before']): ReadonlyMap<string, unknown> {
  const parts = Object.entries(row ?? {})
    .filter(([column]) => isShown(entity, column))
    .flatMap(([column, value]): [string, unknown][] =>
      isObject(value) ? Object.entries(value).map(([part, inner]) => [`${column}.${part}`, inner]) : [[column, value]],
    );
  return new Map(parts.map(([column, value]) => [fieldName(column), value]));
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const secret = /password|secret|token|credential|sealed|(?:^|[a-z_.])keys?$/i;
const LONGEST = 2000;

function shown(field: string, value: unknown): unknown {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value;
  if (secret.test(field)) return '•••';
  if (Array.isArray(value)) {
    const first = value.slice(0, 100).map((part: unknown) => shown('', part));
    return value.length > first.length ? [...first, '…'] : first;
  }
  if (isObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shown(name, inner)]));
  return typeof value === 'string' && value.length > LONGEST ? `${value.slice(0, LONGEST)}…` : value;
}
