// PowerDNS by its own HTTP API (version 4).
import * as z from 'zod';
import type { PowerDnsInput } from '@edgeloom/contract/site-dns/site-dns.ts';
import { plainName, plainValue, quoted, RecordType, unquoted, withDot } from './names.ts';
import type { Ask, DnsAccount } from './provider.ts';
import { DnsRefusal, withoutLine } from './refusal.ts';

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
        const known = RecordType.safeParse(type);
        const values = records.filter(({ disabled }) => !disabled).map(({ content }) => content);
        if (!known.success || values.length === 0) return [];
        return [
          {
            name: plainName(name),
            type: known.data,
            values: values.map((value) => (known.data === 'TXT' ? unquoted(value) : plainValue(known.data, value))),
            ttlSeconds: ttl,
          },
        ];
      });
    },
    async upsert(zone, records) {
      const { name, type, values, ttlSeconds } = withoutLine(records);
      const content = (value: string) => (type === 'TXT' ? quoted(value) : type === 'CNAME' ? withDot(value) : value);
      const rows = values.map((value) => ({ content: content(value), disabled: false }));
      await change(zone, { name: `${name}.`, type, ttl: ttlSeconds, changetype: 'REPLACE', records: rows });
    },
    async remove(zone, records) {
      const { name, type } = withoutLine(records);
      await change(zone, { name: `${name}.`, type, changetype: 'DELETE' });
    },
  };
}

function faultIn(text: string): string | null {
  try {
    return Fault.parse(JSON.parse(text)).error;
  } catch {
    return null;
  }
}
