// Cloudflare by its API, version 4, with an API token.
import * as z from 'zod';
import type { CloudflareInput } from '@edgeloom/contract/site-dns/site-dns.ts';
import { DnsRefusal, type Ask, type DnsAccount, type DnsRecords } from './provider.ts';

const API = 'https://api.cloudflare.com/client/v4';
const PAGE = 100;
const Type = z.enum(['A', 'AAAA', 'CNAME', 'TXT']);
const Envelope = z.object({
  success: z.boolean(),
  errors: z.array(z.object({ code: z.int(), message: z.string() })).default([]),
  result: z.unknown(),
  result_info: z.object({ total_pages: z.int().optional() }).nullish(),
});
const Zones = z.array(z.object({ id: z.string().regex(/^\w+$/), name: z.string() }));
const Rows = z.array(
  z.object({ id: z.string().regex(/^\w+$/), name: z.string(), type: z.string(), content: z.string(), ttl: z.int() }),
);
type Row = z.output<typeof Rows>[number];

export function cloudflare({ apiToken }: z.output<typeof CloudflareInput>, ask: Ask): DnsAccount {
  const call = async (path: string, method = 'GET', body?: object): Promise<z.output<typeof Envelope>> => {
    const answer = await ask(`${API}/${path}`, {
      method,
      headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const said = Envelope.safeParse(await answer.json().catch(() => null));
    if (answer.ok && said.success && said.data.success) return said.data;
    const [fault] = said.data?.errors ?? [];
    throw new DnsRefusal(fault ? `${fault.message} (${fault.code})` : `${answer.status} ${answer.statusText}`.trim());
  };
  const zoneId = async (name: string): Promise<string> => {
    const [zone] = Zones.parse((await call(`zones?name=${encodeURIComponent(name)}`)).result);
    if (!zone) throw new DnsRefusal(`the token reaches no zone ${name}`);
    return zone.id;
  };
  const rows = async (zone: string, filter = ''): Promise<Row[]> => {
    const found: Row[] = [];
    for (let page = 1, pages = 1; page <= pages; page += 1) {
      const { result, result_info: info } = await call(
        `zones/${zone}/dns_records?per_page=${PAGE}&page=${page}${filter}`,
      );
      found.push(...Rows.parse(result));
      pages = info?.total_pages ?? 1;
    }
    return found;
  };
  const rowsOf = (zone: string, { name, type }: Pick<DnsRecords, 'name' | 'type'>) =>
    rows(zone, `&type=${type}&name=${encodeURIComponent(name)}`);

  return {
    lines: () => Promise.resolve([]),
    async list(zone) {
      const found = (await rows(await zoneId(zone))).flatMap((row) => {
        const type = Type.safeParse(row.type);
        return type.success ? [{ ...row, type: type.data }] : [];
      });
      return [...Map.groupBy(found, ({ name, type }) => `${type} ${name}`).values()].flatMap((same) => {
        const [first] = same;
        return first ? [{ name: first.name, type: first.type, values: same.map(valueOf), ttlSeconds: first.ttl }] : [];
      });
    },
    async upsert(zone, records) {
      const { name, type, values, ttlSeconds } = records;
      const id = await zoneId(zone);
      const there = await rowsOf(id, records);
      const missing = values.filter((value) => !there.some((row) => valueOf(row) === value));
      // First what is new: a name is never without its values meanwhile.
      for (const value of missing) {
        const content = type === 'TXT' ? `"${value}"` : value;
        await call(`zones/${id}/dns_records`, 'POST', { type, name, content, ttl: ttlSeconds });
      }
      for (const row of there.filter((one) => !values.includes(valueOf(one))))
        await call(`zones/${id}/dns_records/${row.id}`, 'DELETE');
    },
    async remove(zone, records) {
      const id = await zoneId(zone);
      for (const row of await rowsOf(id, records)) await call(`zones/${id}/dns_records/${row.id}`, 'DELETE');
    },
  };
}

const valueOf = ({ type, content }: Pick<Row, 'type' | 'content'>) =>
  type === 'TXT' ? content.replace(/^"|"$/g, '') : content;
