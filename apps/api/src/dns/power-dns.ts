// PowerDNS by its HTTP API, version 4. Lines are implemented by LUA records, whose text comes from the caller
// (dns-state/lua-answers.ts).
import * as z from 'zod';
import type { PowerDnsInput } from '@edgeloom/contract/dns-account/dns-account.ts';
import { plainName, plainValue, quoted, RecordType, unquoted, withDot } from './names.ts';
import type { Ask, DnsAccount, DnsChange, DnsLine } from './account.ts';
import { DnsRateLimitedError, DnsRefusedError, retryWhenLimited, withoutLine } from './refusal.ts';

/** Validated one by one and stopped at the first error, since the errors of millions would exhaust memory. */
const Zone = z.object({ rrsets: z.array(z.unknown()) });
const Rrset = z.object({
  name: z.string(),
  type: z.string(),
  ttl: z.int(),
  records: z.array(z.object({ content: z.string(), disabled: z.boolean() })).max(10_000),
});
const Settings = z.array(z.object({ name: z.string(), value: z.string() })).max(10_000);
const Fault = z.object({ error: z.string() });
/** Sets per call: some hundred milliseconds in its database. */
const AT_ONCE = 1000;

export function powerDns({ url, serverID, apiKey }: z.output<typeof PowerDnsInput>, ask: Ask): DnsAccount {
  const server = `${url.replace(/\/+$/, '')}/api/v1/servers/${serverID}`;
  const call = (path: string, method: string, body?: object) =>
    retryWhenLimited(async (): Promise<unknown> => {
      const response = await ask(`${server}/${path}`, {
        method,
        headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (response.ok) return text === '' ? null : JSON.parse(text);
      const fault = faultIn(text) ?? `HTTP ${response.status}`;
      if (response.status === 429) throw new DnsRateLimitedError(fault, '', response.headers.get('retry-after'));
      // A server error, rather than a refusal.
      throw response.status >= 500 ? new Error(fault) : new DnsRefusedError(fault);
    });
  const zonePath = (zone: string) => `zones/${encodeURIComponent(`${zone}.`)}`;
  const change = async (zone: string, changes: DnsChange[]) => {
    for (let at = 0; at < changes.length; at += AT_ONCE)
      await call(zonePath(zone), 'PATCH', { rrsets: changes.slice(at, at + AT_ONCE).map(rrsetOf) });
  };

  const settings = async () => {
    const found = Settings.parse(await call('config', 'GET'));
    const valueOf = (name: string) => found.find((one) => one.name === name)?.value ?? '';
    return { valueOf, runsPrograms: !['', 'no'].includes(valueOf('enable-lua-records')) };
  };

  return {
    weighting: async () => ((await settings()).runsPrograms ? 'eachLine' : 'none'),
    async lines() {
      const { valueOf, runsPrograms } = await settings();
      const canTell = runsPrograms && /\bgeoip\b/.test(valueOf('launch'));
      const files = canTell ? valueOf('geoip-database-files') : '';
      const lines: DnsLine[] = [];
      if (files !== '') lines.push({ id: 'places', name: 'Countries and continents' });
      if (/asn/i.test(files)) lines.push({ id: 'networks', name: 'Carriers' });
      return lines;
    },
    async list(zone, name) {
      const filter = name === undefined ? '' : `?rrset_name=${encodeURIComponent(withDot(name))}`;
      const { rrsets } = Zone.parse(await call(`${zonePath(zone)}${filter}`, 'GET'));
      return rrsets.flatMap((rrset) => {
        const { name: given, type, ttl, records } = Rrset.parse(rrset);
        const known = RecordType.safeParse(type);
        const values = records.filter(({ disabled }) => !disabled).map(({ content }) => content);
        // Older servers ignore the filter and return the whole zone.
        if (!known.success || values.length === 0 || (name !== undefined && plainName(given) !== name)) return [];
        return [
          {
            name: plainName(given),
            type: known.data,
            values: values.map((value) => (known.data === 'TXT' ? unquoted(value) : plainValue(known.data, value))),
            ttlSeconds: ttl,
          },
        ];
      });
    },
    upsert: (zone, put) => change(zone, [{ put }]),
    remove: (zone, drop) => change(zone, [{ drop }]),
    change,
  };
}

function rrsetOf(change: DnsChange): object {
  if ('drop' in change) {
    const { name, type } = withoutLine(change.drop);
    return { name: `${name}.`, type, changetype: 'DELETE' };
  }
  const { name, type, values, ttlSeconds } = withoutLine(change.put);
  const content = (value: string) => (type === 'TXT' ? quoted(value) : type === 'CNAME' ? withDot(value) : value);
  const records = values.map((value) => ({ content: content(value), disabled: false }));
  return { name: `${name}.`, type, ttl: ttlSeconds, changetype: 'REPLACE', records };
}

function faultIn(text: string): string | null {
  try {
    return Fault.parse(JSON.parse(text)).error;
  } catch {
    return null;
  }
}
