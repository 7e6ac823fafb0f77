// Huawei Cloud DNS by its API, version 2.1, which knows lines. The vendor publishes no package for this service alone, and its
// core brings lodash, moment and log4js: we sign the few calls that we need.
import * as z from 'zod';
import type { HuaweiCloudInput } from '@edgeloom/contract/site-dns/site-dns.ts';
import { huaweiHeaders } from './huawei-signature.ts';
import { plainName, plainValue, quoted, RecordType, unquoted, withDot } from './names.ts';
import type { Ask, DnsAccount, DnsRecords } from './provider.ts';
import { DnsBusy, DnsRefusal, patiently } from './refusal.ts';
import { encoded } from './rfc3986.ts';

const PAGE = 500;
const LINES_PAGE = 1000;
/** For everybody whom no other line takes, as older and newer answers call it. */
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
  const call = (method: string, path: string, query: Record<string, string> = {}, content?: object) =>
    patiently(async () => {
      const asked = Object.entries(query).map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
      const url = new URL(`${endpoint}/${path}${asked.length > 0 ? `?${asked.join('&')}` : ''}`);
      const body = content ? JSON.stringify(content) : '';
      const headers = huaweiHeaders({ method, url, body, at: new Date() }, key);
      const answer = await ask(url.href, { method, headers, ...(content && { body }) });
      const said: unknown = await answer.json().catch(() => null);
      if (answer.ok) return said;
      const fault = Fault.safeParse(said).data;
      const code = fault?.error_code ?? fault?.code ?? '';
      const message = fault?.error_msg ?? fault?.message ?? `${answer.status} ${answer.statusText}`.trim();
      if (answer.status === 429) throw new DnsBusy(message, code, answer.headers.get('retry-after'));
      throw new DnsRefusal(message, code);
    });
  const zoneId = async (zone: string): Promise<string> => {
    const asked = { type: 'public', name: withDot(zone), search_mode: 'equal' };
    const { zones } = Zones.parse(await call('GET', 'v2/zones', asked));
    const found = zones.find(({ name }) => plainName(name) === zone);
    if (!found) throw new DnsRefusal(`the key reaches no public zone ${zone}`);
    return found.id;
  };
  const sets = async (id: string, filter: Record<string, string>): Promise<(DnsRecords & { id: string })[]> => {
    const found = [];
    for (let total = 1; found.length < total;) {
      const asked = { ...filter, limit: String(PAGE), offset: String(found.length) };
      const { recordsets, metadata } = RecordSets.parse(await call('GET', `v2.1/zones/${id}/recordsets`, asked));
      if (recordsets.length === 0) break;
      found.push(...recordsets);
      total = metadata.total_count;
    }
    return found.flatMap(({ id: setId, name, type, ttl, records, line, status }) => {
      const known = RecordType.safeParse(type);
      if (!known.success || status === 'DISABLE' || status === 'PENDING_DELETE') return [];
      return [
        {
          id: setId,
          name: plainName(name),
          type: known.data,
          values: records.map((value) => (known.data === 'TXT' ? unquoted(value) : plainValue(known.data, value))),
          ttlSeconds: ttl,
          ...(!DEFAULT_LINES.includes(line ?? '') && { line: line ?? '' }),
        },
      ];
    });
  };
  const setsOf = async (id: string, { name, type, line }: Pick<DnsRecords, 'name' | 'type' | 'line'>) => {
    const found = await sets(id, { name: withDot(name), type, search_mode: 'equal' });
    return found.filter((set) => set.name === name && set.type === type && set.line === line);
  };

  return {
    async lines() {
      const asked = { locale: 'en-us', limit: String(LINES_PAGE) };
      const { lines } = Lines.parse(await call('GET', 'v2.1/system-lines', asked));
      return lines.filter(({ id }) => !DEFAULT_LINES.includes(id)).map(({ id, name }) => ({ id, name }));
    },
    async list(zone, name) {
      const filter = name === undefined ? {} : { name: withDot(name), search_mode: 'equal' };
      const found = (await sets(await zoneId(zone), filter)).map(({ id: _, ...set }) => set);
      return found.filter((set) => name === undefined || set.name === name);
    },
    async upsert(zone, records) {
      const { name, type, line, values, ttlSeconds } = records;
      const id = await zoneId(zone);
      const content = {
        name: withDot(name),
        type,
        ttl: ttlSeconds,
        records: values.map((value) => (type === 'TXT' ? quoted(value) : type === 'CNAME' ? withDot(value) : value)),
      };
      // Sets that shared visitors by weight become one.
      const [there, ...others] = await setsOf(id, records);
      if (there) await call('PUT', `v2.1/zones/${id}/recordsets/${there.id}`, {}, content);
      else await call('POST', `v2.1/zones/${id}/recordsets`, {}, { ...content, ...(line !== undefined && { line }) });
      for (const set of others) await call('DELETE', `v2.1/zones/${id}/recordsets/${set.id}`);
    },
    async remove(zone, records) {
      const id = await zoneId(zone);
      for (const set of await setsOf(id, records)) await call('DELETE', `v2.1/zones/${id}/recordsets/${set.id}`);
    },
  };
}
