// Huawei Cloud DNS, API version 2.1, which supports lines. We sign the few needed calls: the vendor has no separate
// package, and its core brings lodash, moment and log4js.
import * as z from 'zod';
import type { HuaweiCloudInput } from '@edgeloom/contract/dns-account/dns-account.ts';
import { huaweiHeaders } from './huawei-signature.ts';
import { plainName, plainValue, quoted, RecordType, unquoted, withDot } from './names.ts';
import { pace } from './pace.ts';
import type { Ask, DnsAccount, DnsKey, DnsRecords } from './account.ts';
import { DnsRateLimitedError, DnsRefusedError, retryWhenLimited, withTtl } from './refusal.ts';
import { percentEncode } from './rfc3986.ts';
import { inSets, rowReader, type Row } from './rows.ts';

const PAGE = 500;
const LINES_PAGE = 1000;
/** The limit is unpublished. Above it the API returns an error. */
const CALLS_A_SECOND = 100;
const AT_ONCE = 16;
/** Names of the default line in older and newer responses. */
const DEFAULT_LINES = ['', 'default_view', 'default'];

const Fault = z.object({
  code: z.string().optional(),
  message: z.string().optional(),
  error_code: z.string().optional(),
  error_msg: z.string().optional(),
});
const Id = z.string().regex(/^[\w-]+$/);
const Zones = z.object({ zones: z.array(z.object({ id: Id, name: z.string() })) });
const RecordSets = z.object({
  recordsets: z.array(
    z.object({
      id: Id,
      name: z.string(),
      type: z.string(),
      ttl: z.int(),
      records: z.array(z.string()),
      line: z.string().nullish(),
      weight: z.int().nullish(),
      status: z.string(),
    }),
  ),
  metadata: z.object({ total_count: z.int() }),
});
const Lines = z.object({ lines: z.array(z.object({ id: z.string(), name: z.string() })) });

export function huaweiCloud(
  { region, ...key }: z.output<typeof HuaweiCloudInput>,
  ask: Ask,
  endpoint = `https://dns.${region}.myhuaweicloud.com`,
): DnsAccount {
  const turn = pace(CALLS_A_SECOND);
  const call = (method: string, path: string, query: Record<string, string> = {}, content?: object) =>
    retryWhenLimited(async () => {
      await turn();
      const asked = Object.entries(query).map(([name, value]) => `${percentEncode(name)}=${percentEncode(value)}`);
      const url = new URL(`${endpoint}/${path}${asked.length > 0 ? `?${asked.join('&')}` : ''}`);
      const body = content ? JSON.stringify(content) : '';
      const headers = huaweiHeaders({ method, url, body, at: new Date() }, key);
      const response = await ask(url.href, { method, headers, ...(content && { body }) });
      const result: unknown = await response.json().catch(() => null);
      if (response.ok) return result;
      const fault = Fault.safeParse(result).data;
      const code = fault?.error_code ?? fault?.code ?? '';
      const message = fault?.error_msg ?? fault?.message ?? `${response.status} ${response.statusText}`.trim();
      if (response.status === 429 || code === 'DNS.0014')
        throw new DnsRateLimitedError(message, code, response.headers.get('retry-after'));
      // A server error, rather than a refusal.
      if (response.status >= 500) throw new Error(message);
      throw new DnsRefusedError(message, code);
    });
  const ids = new Map<string, string>();
  const zoneId = async (zone: string): Promise<string> => {
    const known = ids.get(zone);
    if (known !== undefined) return known;
    const asked = { type: 'public', name: withDot(zone), search_mode: 'equal' };
    const { zones } = Zones.parse(await call('GET', 'v2/zones', asked));
    const found = zones.find(({ name }) => plainName(name) === zone);
    if (!found) throw new DnsRefusedError(`the key reaches no public zone ${zone}`);
    ids.set(zone, found.id);
    return found.id;
  };
  const sets = async (id: string, filter: Record<string, string>): Promise<OwnSet[]> => {
    const found = [];
    for (let total = 1; found.length < total;) {
      const asked = { ...filter, limit: String(PAGE), offset: String(found.length) };
      const { recordsets, metadata } = RecordSets.parse(await call('GET', `v2.1/zones/${id}/recordsets`, asked));
      if (recordsets.length === 0) break;
      found.push(...recordsets);
      total = metadata.total_count;
    }
    return found.flatMap(({ id: setId, name, type, ttl, records, line, weight, status }) => {
      const known = RecordType.safeParse(type);
      if (!known.success || status === 'DISABLE' || status === 'PENDING_DELETE') return [];
      return [
        {
          id: setId,
          name: plainName(name),
          type: known.data,
          values: records.map((value) => (known.data === 'TXT' ? unquoted(value) : plainValue(known.data, value))),
          ttlSeconds: ttl,
          ...(typeof weight === 'number' && { weight }),
          ...(!DEFAULT_LINES.includes(line ?? '') && { line: line ?? '' }),
        },
      ];
    });
  };
  const setsOf = async (zone: string, { name, type, line }: DnsKey) => {
    const found = await sets(await zoneId(zone), { name: withDot(name), type, search_mode: 'equal' });
    return found.filter((set) => set.name === name && set.type === type && set.line === line);
  };
  const reader = rowReader(async (zone) => sets(await zoneId(zone), {}), setsOf);

  return {
    concurrency: AT_ONCE,
    readAhead: reader.readAhead,
    weighting: () => Promise.resolve('eachLine'),
    async lines() {
      const asked = { locale: 'en-us', limit: String(LINES_PAGE) };
      const { lines } = Lines.parse(await call('GET', 'v2.1/system-lines', asked));
      return lines.filter(({ id }) => !DEFAULT_LINES.includes(id)).map(({ id, name }) => ({ id, name }));
    },
    async list(zone, name) {
      const filter = name === undefined ? {} : { name: withDot(name), search_mode: 'equal' };
      const found = await sets(await zoneId(zone), filter);
      const rows = found.flatMap(({ values, ...set }): Row[] => values.map((value) => ({ ...set, value })));
      return inSets(rows.filter((row) => name === undefined || row.name === name));
    },
    async upsert(zone, records) {
      const { name, type, line, ttlSeconds } = records;
      const path = `v2.1/zones/${await zoneId(zone)}/recordsets`;
      const there = await reader.take(zone, records);
      const content = (value: string) => (type === 'TXT' ? quoted(value) : type === 'CNAME' ? withDot(value) : value);
      const isOf = (values: string[]) => (set: OwnSet) => set.values.join('\n') === values.join('\n');
      const wanted = weighed(records, there);
      const stale = there.filter((set) => !wanted.some(({ values }) => isOf(values)(set)));
      for (const { values, weight } of wanted) {
        const existing = there.find(isOf(values));
        const before = existing ?? stale.shift();
        if (existing?.ttlSeconds === ttlSeconds && existing.weight === weight) continue;
        await withTtl(ttlSeconds, 'DNS.0319', (ttl) => {
          const body = {
            name: withDot(name),
            type,
            ttl,
            records: values.map(content),
            ...(weight !== undefined && { weight }),
          };
          if (before) return call('PUT', `${path}/${before.id}`, {}, body);
          return call('POST', path, {}, { ...body, ...(line !== undefined && { line }) });
        });
      }
      for (const { id } of stale) await call('DELETE', `${path}/${id}`);
    },
    async remove(zone, records) {
      const id = await zoneId(zone);
      for (const set of await reader.take(zone, records)) await call('DELETE', `v2.1/zones/${id}/recordsets/${set.id}`);
    },
  };
}

/** One of the vendor's record sets. Several of one name, type and line share visitors by weight. */
interface OwnSet extends Omit<DnsRecords, 'weights'> {
  id: string;
  weight?: number;
}
/** A weight cannot be removed. A single weighted set always responds. */
function weighed(
  { type, values: given, weights }: DnsRecords,
  there: readonly OwnSet[],
): Pick<OwnSet, 'values' | 'weight'>[] {
  const values = given.map((value) => plainValue(type, value));
  if (weights) return values.map((value, at) => ({ values: [value], weight: weights[at] ?? 1 }));
  return [{ values, ...(there.some(({ weight }) => weight !== undefined) && { weight: 1 }) }];
}
