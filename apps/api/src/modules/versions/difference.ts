// A changed row in the words of the API: fields as it calls them, secrets masked, what only joins rows left out.
import type { Difference } from '@edgeloom/contract/versions/versions.ts';
import type { Area } from '@edgeloom/contract/permissions.ts';
import type { FoldedRow } from '../../core/restore-site.ts';

/** Whose calls write which table. What stands in no line is shown to nobody and rolled back by nobody (a test says so). */
export const areaOf: Readonly<Record<string, Area>> = {
  domains: 'domain',
  upstreams: 'domain',
  anti_referers: 'firewall',
  anti_headers: 'firewall',
  modules: 'module',
  domain_modules: 'module',
  redirects: 'module',
  cache_rules: 'cache',
  cache_settings: 'cache',
  compressions: 'cache',
  rates: 'cache',
  error_pages: 'module',
  site_ports: 'site',
  port_rules: 'site',
  port_upstreams: 'site',
};

export const camel = (name: string) => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
/** Abbreviations as the calls spell them: `forceSSL`, `certificateID`. */
const fieldName = (column: string) => camel(column).replace(/(?:Ssl|Tls|Id)$/, (end) => end.toUpperCase());

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
const isShown = (entity: string, column: string) =>
  !joins.includes(column) || (entity === 'domain_modules' && column === 'module_id');

export function differenceOf({ entity, rowKey, label, parent, before, after }: FoldedRow): Difference {
  const old = spread(before);
  const now = spread(after);
  const fields = [...new Set([...old.keys(), ...now.keys()])]
    .filter((column) => isShown(entity, column))
    .map((column) => ({ field: fieldName(column), before: old.get(column) ?? null, after: now.get(column) ?? null }))
    .filter((field) => JSON.stringify(field.before) !== JSON.stringify(field.after))
    .map(({ field, ...values }) => ({
      field,
      before: shown(field, values.before),
      after: shown(field, values.after),
    }));
  const action = before === null ? 'added' : after === null ? 'removed' : 'changed';
  return { kind: camel(entity), key: rowKey, name: label, parent, action, fields };
}

/** What a column holds as an object is told part by part: `settings.allowOrigins`. */
function spread(row: FoldedRow['before']): Map<string, unknown> {
  const parts = Object.entries(row ?? {}).flatMap(([column, value]): [string, unknown][] =>
    isObject(value) ? Object.entries(value).map(([part, inner]) => [`${column}.${part}`, inner]) : [[column, value]],
  );
  return new Map(parts);
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
