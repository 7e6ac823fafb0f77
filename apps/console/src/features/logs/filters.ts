// The filters of the page.
import { causeName } from '../../lib/cause-name.ts';
import { countries, countryName } from '../../lib/countries.ts';
import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { logs } from '@edgeloom/contract/logs/logs.endpoints.ts';
import { CacheStatus } from '@edgeloom/contract/logs/logs.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { family } from '../../lib/family.ts';
import { t, tMaybe, type Word } from '../../lib/i18n.ts';
import type { FilterKey } from './log-state.ts';

export interface LogFilter {
  key: FilterKey;
  /** Matches any part of the field. */
  contains?: true;
  /** Endpoint that lists the choices. */
  meta?: Endpoint;
  choices?: () => readonly string[];
  /** Values may be typed. */
  typed?: true;
  single?: true;
}

/** Causes that nodes log. */
const causes = [
  'acl',
  'luaAcl',
  'waf',
  'antiCC',
  'antiHeader',
  'antiReferer',
  'tokenAuth',
  'urlRedirect',
  'frequency',
  'limitReq',
  'limitConn',
  'siteLimits',
  'blacklist',
  'abuseIP',
  'crawlers',
] as const;
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

export const filters: readonly LogFilter[] = [
  { key: 'siteIDs', meta: sites.meta },
  { key: 'domains', typed: true },
  { key: 'host', typed: true },
  { key: 'uri', typed: true, contains: true },
  { key: 'status', choices: () => ['2xx', '3xx', '4xx', '5xx', '9xx'], typed: true },
  { key: 'remoteIP', typed: true },
  { key: 'country', choices: countries },
  { key: 'method', choices: () => methods, typed: true },
  { key: 'cacheStatus', choices: () => CacheStatus.options },
  { key: 'cause', choices: () => causes },
  { key: 'rule', typed: true },
  { key: 'userAgent', typed: true, contains: true },
  { key: 'referer', typed: true, contains: true },
  // Customers do not see nodes.
  ...(family === 'client' ? [{ key: 'nodeIDs' as const, meta: nodes.meta }] : []),
  { key: 'reqID', typed: true, single: true },
];

export const labelOf = (key: FilterKey) => (key === 'noSite' ? t('statistics.noSite') : t(`logs.fields.${key}`));

export function operatorOf({ contains }: LogFilter, isNot: boolean): Word {
  if (contains) return isNot ? 'logs.operators.notContains' : 'logs.operators.contains';
  return isNot ? 'logs.operators.isNot' : 'logs.operators.is';
}

/** Label of a value that is no id. */
export function valueLabel(key: FilterKey, value: string): string {
  if (key === 'country') return countryName(value);
  if (key === 'cause') return causeName(value);
  if (key === 'cacheStatus') return value === '-' ? t('logs.cache.none') : value;
  return value;
}

/** A filter in words: `Path contains “/api”`. */
export function inWords(key: FilterKey, isNot: boolean, value: string): string {
  const filter = filters.find((one) => one.key === key) ?? { key };
  return t('logs.inWords', {
    field: labelOf(key),
    operator: t(operatorOf(filter, isNot)),
    value: valueLabel(key, value),
  });
}

const lowerCase: ReadonlySet<FilterKey> = new Set(['status', 'remoteIP', 'domains', 'host', 'reqID']);

/** The value as the API takes it. */
export function normalized(key: FilterKey, typed: string): string {
  const text = typed.trim();
  if (key === 'method') return text.toUpperCase();
  return lowerCase.has(key) ? text.toLowerCase() : text;
}

/** Text of an error in a typed value. Null if the API accepts the value. */
export function faultOf(key: FilterKey, value: string): string | null {
  const { shape } = logs.access.body;
  if (key === 'noSite') return null;
  const result = key === 'reqID' ? shape.reqID.safeParse(value) : shape[key].safeParse([value]);
  return result.success ? null : (tMaybe(`logs.faults.${key}`) ?? t('logs.faults.other'));
}
