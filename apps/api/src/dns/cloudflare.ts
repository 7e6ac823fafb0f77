// Cloudflare API version 4, with an API token.
import * as z from 'zod';
import type { CloudflareInput } from '@edgeloom/contract/dns-account/dns-account.ts';
import { plainValue, quoted, RecordType, unquoted } from './names.ts';
import { intoBatches, MAX_SINGLE_LOOKUPS } from './batches.ts';
import type { Ask, DnsAccount, DnsChange } from './account.ts';
import { DnsRateLimitedError, DnsRefusedError, retryWhenLimited, withoutLine } from './refusal.ts';
import { inSets, rowChanges, type Row } from './rows.ts';

const API = 'https://api.cloudflare.com/client/v4';
/** The limit is 1,200 calls in five minutes: hence large pages, and batches of the smallest plan's size. */
const PAGE = 5000;
const AT_ONCE = 200;
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
    retryWhenLimited(async (): Promise<z.output<typeof Envelope>> => {
      const response = await ask(`${endpoint}/${path}`, {
        method,
        headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
      const envelope = Envelope.safeParse(await response.json().catch(() => null));
      if (response.ok && envelope.success && envelope.data.success) return envelope.data;
      const [fault] = envelope.data?.errors ?? [];
      const message = fault?.message ?? `${response.status} ${response.statusText}`.trim();
      const code = fault ? String(fault.code) : '';
      if (response.status === 429) throw new DnsRateLimitedError(message, code, response.headers.get('retry-after'));
      // A server error, rather than a refusal.
      if (response.status >= 500 || !envelope.success) throw new Error(message);
      throw new DnsRefusedError(message, code);
    });
  const zoneId = async (name: string): Promise<string> => {
    const [zone] = Zones.parse((await call(`zones?name=${encodeURIComponent(name)}`)).result);
    if (!zone) throw new DnsRefusedError(`the token reaches no zone ${name}`);
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
  /** Batched steps run in this order, all or none. */
  type Step = { deletes: { id: string } } | { patches: object } | { posts: object };
  const stepsOf = (there: readonly Row[], change: DnsChange): Step[] => {
    const { name, type } = withoutLine('put' in change ? change.put : change.drop);
    const rowsThere = there.filter((row) => row.name === name && row.type === type);
    if ('drop' in change) return rowsThere.map(({ id }) => ({ deletes: { id } }));
    const { ttlSeconds: ttl } = change.put;
    const content = (value: string) => (type === 'TXT' ? quoted(value) : value);
    const values = change.put.values.map((value) => plainValue(type, value));
    return rowChanges(rowsThere, { values, ttlSeconds: ttl }).map((one): Step => {
      if ('remove' in one) return { deletes: { id: one.remove } };
      if ('update' in one) return { patches: { id: one.update, content: content(one.value), ttl } };
      return { posts: { type, name, content: content(one.create), ttl } };
    });
  };
  async function change(zone: string, changes: DnsChange[]) {
    const id = await zoneId(zone);
    const byName = Map.groupBy(changes, (one) => ('put' in one ? one.put : one.drop).name);
    const there: Row[] = [];
    if (byName.size > MAX_SINGLE_LOOKUPS) there.push(...(await rows(id)));
    else for (const name of byName.keys()) there.push(...(await rows(id, `&name=${encodeURIComponent(name)}`)));
    const thereByName = Map.groupBy(there, ({ name }) => name);
    const steps = byName
      .entries()
      .map(([name, some]) => some.flatMap((one) => stepsOf(thereByName.get(name) ?? [], one)));
    for (const pack of intoBatches(steps, ({ length }) => length <= AT_ONCE))
      await call(`zones/${id}/dns_records/batch`, 'POST', {
        deletes: pack.flatMap((step) => ('deletes' in step ? [step.deletes] : [])),
        patches: pack.flatMap((step) => ('patches' in step ? [step.patches] : [])),
        posts: pack.flatMap((step) => ('posts' in step ? [step.posts] : [])),
      });
  }

  return {
    lines: () => Promise.resolve([]),
    weighting: () => Promise.resolve('none'),
    async list(zone, name) {
      return inSets(await rows(await zoneId(zone), name === undefined ? '' : `&name=${encodeURIComponent(name)}`));
    },
    upsert: (zone, put) => change(zone, [{ put }]),
    remove: (zone, drop) => change(zone, [{ drop }]),
    change,
  };
}
