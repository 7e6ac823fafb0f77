// Cloudflare by its API, version 4, with an API token.
import * as z from 'zod';
import type { CloudflareInput } from '@edgeloom/contract/site-dns/site-dns.ts';
import { plainValue, quoted, RecordType, unquoted } from './names.ts';
import type { Ask, DnsAccount, DnsRecords } from './provider.ts';
import { DnsBusy, DnsRefusal, patiently, withoutLine } from './refusal.ts';
import { inSets, replaceRows, type Row } from './rows.ts';

const API = 'https://api.cloudflare.com/client/v4';
const PAGE = 100;
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

export function cloudflare({ apiToken }: z.output<typeof CloudflareInput>, ask: Ask, endpoint = API): DnsAccount {
  const call = (path: string, method = 'GET', body?: object) =>
    patiently(async (): Promise<z.output<typeof Envelope>> => {
      const answer = await ask(`${endpoint}/${path}`, {
        method,
        headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
      const said = Envelope.safeParse(await answer.json().catch(() => null));
      if (answer.ok && said.success && said.data.success) return said.data;
      const [fault] = said.data?.errors ?? [];
      const message = fault?.message ?? `${answer.status} ${answer.statusText}`.trim();
      const code = fault ? String(fault.code) : '';
      if (answer.status === 429) throw new DnsBusy(message, code, answer.headers.get('retry-after'));
      throw new DnsRefusal(message, code);
    });
  const zoneId = async (name: string): Promise<string> => {
    const [zone] = Zones.parse((await call(`zones?name=${encodeURIComponent(name)}`)).result);
    if (!zone) throw new DnsRefusal(`the token reaches no zone ${name}`);
    return zone.id;
  };
  const rows = async (zone: string, filter = ''): Promise<Row[]> => {
    const found: z.output<typeof Rows> = [];
    for (let page = 1, pages = 1; page <= pages; page += 1) {
      const { result, result_info: info } = await call(
        `zones/${zone}/dns_records?per_page=${PAGE}&page=${page}${filter}`,
      );
      found.push(...Rows.parse(result));
      pages = info?.total_pages ?? 1;
    }
    return found.flatMap(({ id, name, type, content, ttl }) => {
      const known = RecordType.safeParse(type);
      if (!known.success) return [];
      const value = known.data === 'TXT' ? unquoted(content) : plainValue(known.data, content);
      return [{ id, name, type: known.data, value, ttlSeconds: ttl }];
    });
  };
  const rowsOf = (zone: string, { name, type }: Pick<DnsRecords, 'name' | 'type'>) =>
    rows(zone, `&type=${type}&name=${encodeURIComponent(name)}`);

  return {
    lines: () => Promise.resolve([]),
    async list(zone, name) {
      return inSets(await rows(await zoneId(zone), name === undefined ? '' : `&name=${encodeURIComponent(name)}`));
    },
    async upsert(zone, records) {
      const { name, type, ttlSeconds } = withoutLine(records);
      const id = await zoneId(zone);
      const content = (value: string) => (type === 'TXT' ? quoted(value) : value);
      const values = records.values.map((value) => plainValue(type, value));
      await replaceRows(
        await rowsOf(id, records),
        { values, ttlSeconds },
        {
          create: (value) =>
            call(`zones/${id}/dns_records`, 'POST', { type, name, content: content(value), ttl: ttlSeconds }),
          update: (row, value) =>
            call(`zones/${id}/dns_records/${row}`, 'PATCH', { content: content(value), ttl: ttlSeconds }),
          remove: (row) => call(`zones/${id}/dns_records/${row}`, 'DELETE'),
        },
      );
    },
    async remove(zone, records) {
      const id = await zoneId(zone);
      for (const row of await rowsOf(id, withoutLine(records)))
        await call(`zones/${id}/dns_records/${row.id}`, 'DELETE');
    },
  };
}
