// PowerDNS by its own HTTP API (version 4).
import * as z from 'zod';
import type { PowerDnsInput } from '@edgeloom/contract/site-dns/site-dns.ts';
import { DnsRefusal, type Ask, type DnsAccount } from './provider.ts';

const Type = z.enum(['A', 'AAAA', 'CNAME', 'TXT']);
const Zone = z.object({
  rrsets: z.array(
    z.object({
      name: z.string(),
      type: z.string(),
      ttl: z.int(),
      records: z.array(z.object({ content: z.string(), disabled: z.boolean() })),
    }),
  ),
});
const Fault = z.object({ error: z.string() });

export function powerDns({ url, serverID, apiKey }: z.output<typeof PowerDnsInput>, ask: Ask): DnsAccount {
  const call = async (zone: string, method: string, body?: object): Promise<unknown> => {
    const address = `${url.replace(/\/+$/, '')}/api/v1/servers/${serverID}/zones/${encodeURIComponent(`${zone}.`)}`;
    const answer = await ask(address, {
      method,
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (answer.ok) return text === '' ? null : JSON.parse(text);
    throw new DnsRefusal(faultIn(text) ?? `${answer.status} ${answer.statusText}`.trim());
  };
  const change = (zone: string, rrset: object) => call(zone, 'PATCH', { rrsets: [rrset] });

  return {
    lines: () => Promise.resolve([]),
    async list(zone) {
      const { rrsets } = Zone.parse(await call(zone, 'GET'));
      return rrsets.flatMap(({ name, type, ttl, records }) => {
        const known = Type.safeParse(type);
        const values = records.filter(({ disabled }) => !disabled).map(({ content }) => content);
        if (!known.success || values.length === 0) return [];
        return [
          {
            name: bare(name),
            type: known.data,
            values: values.map(known.data === 'TXT' ? unquoted : bare),
            ttlSeconds: ttl,
          },
        ];
      });
    },
    async upsert(zone, { name, type, values, ttlSeconds }) {
      const content = (value: string) =>
        type === 'TXT' ? `"${value.replace(/["\\]/g, '\\$&')}"` : type === 'CNAME' ? `${value}.` : value;
      const records = values.map((value) => ({ content: content(value), disabled: false }));
      await change(zone, { name: `${name}.`, type, ttl: ttlSeconds, changetype: 'REPLACE', records });
    },
    async remove(zone, { name, type }) {
      await change(zone, { name: `${name}.`, type, changetype: 'DELETE' });
    },
  };
}

const bare = (name: string) => name.replace(/\.$/, '');
const unquoted = (content: string) => content.replace(/^"|"$/g, '').replace(/\\(["\\])/g, '$1');

function faultIn(text: string): string | null {
  try {
    return Fault.parse(JSON.parse(text)).error;
  } catch {
    return null;
  }
}
