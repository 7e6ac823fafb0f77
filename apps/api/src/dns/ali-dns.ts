// Alibaba Cloud DNS, API version 2015-01-09. We sign the few needed calls: the vendor's SDK is 43 MB in 40 packages and
// bypasses our outbound policy.
import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { KeyPair } from '@edgeloom/contract/dns-account/dns-account.ts';
import { alibabaCall } from './alibaba-signature.ts';
import { fullName, plainValue, RecordType, withinZone } from './names.ts';
import { pace } from './pace.ts';
import type { Ask, DnsAccount, DnsKey, DnsRecords } from './account.ts';
import { DnsRateLimitedError, DnsRefusedError, retryWhenLimited, ignoreCode, withTtl } from './refusal.ts';
import { inSets, rowChanges, rowReader, type Row } from './rows.ts';

/** Serves accounts of both its clouds. */
const API = 'https://alidns.aliyuncs.com';
const PAGES = { DescribeDomainRecords: 500, DescribeSubDomainRecords: 100 };
/** The limit is 60 per second for each changing call. Batch calls are asynchronous. */
const CALLS_A_SECOND = 50;
const AT_ONCE = 16;
/** The default line. */
const DEFAULT_LINE = 'default';

const Fault = z.object({ Code: z.string(), Message: z.string() });
const Records = z.object({
  TotalCount: z.int(),
  DomainRecords: z.object({
    Record: z.array(
      z.object({
        RecordId: z.string(),
        RR: z.string(),
        Type: z.string(),
        Value: z.string(),
        Line: z.string(),
        TTL: z.int(),
        Status: z.string(),
        Weight: z.int().nullish(),
      }),
    ),
  }),
});
const Lines = z.object({
  RecordLines: z.object({ RecordLine: z.array(z.object({ LineCode: z.string(), LineDisplayName: z.string() })) }),
});

export function aliDns(key: KeyPair, ask: Ask, endpoint = API): DnsAccount {
  const turn = pace(CALLS_A_SECOND);
  const call = (action: string, params: Record<string, string>) =>
    retryWhenLimited(async () => {
      await turn();
      const { host } = new URL(endpoint);
      const signing = { host, action, version: '2015-01-09', params, nonce: randomUUID(), at: new Date() };
      const { query, headers } = alibabaCall(signing, key);
      const response = await ask(`${endpoint}/?${query}`, { method: 'POST', headers });
      const content: unknown = await response.json().catch(() => null);
      if (response.ok && content !== null) return content;
      const { Code, Message } = Fault.safeParse(content).data ?? {
        Code: '',
        Message: `${response.status} ${response.statusText}`.trim(),
      };
      if (response.status === 429 || Code.startsWith('Throttling'))
        throw new DnsRateLimitedError(Message, Code, response.headers.get('retry-after'));
      // A server error, rather than a refusal.
      if (response.status >= 500 || content === null) throw new Error(Message);
      throw new DnsRefusedError(Message, Code);
    });
  const rows = async (zone: string, action: keyof typeof PAGES, filter: Record<string, string>): Promise<Row[]> => {
    const found = [];
    for (let page = 1, total = 1; found.length < total; page += 1) {
      const asked = { DomainName: zone, ...filter, PageNumber: String(page), PageSize: String(PAGES[action]) };
      const { TotalCount, DomainRecords } = Records.parse(await call(action, asked));
      if (DomainRecords.Record.length === 0) break;
      found.push(...DomainRecords.Record);
      total = TotalCount;
    }
    return found.flatMap(({ RecordId, RR, Type, Value, Line, TTL, Status, Weight }) => {
      const type = RecordType.safeParse(Type);
      if (!type.success || Status.toUpperCase() !== 'ENABLE') return [];
      return [
        {
          id: RecordId,
          name: fullName(zone, RR),
          type: type.data,
          value: plainValue(type.data, Value),
          ttlSeconds: TTL,
          ...(typeof Weight === 'number' && { weight: Weight }),
          ...(Line !== DEFAULT_LINE && { line: Line }),
        },
      ];
    });
  };
  const subDomain = (zone: string, name: string) => (name === zone ? `@.${zone}` : name);
  const rowsOf = async (zone: string, { name, type, line }: DnsKey) => {
    const filter = { SubDomain: subDomain(zone, name), Type: type, Line: line ?? DEFAULT_LINE };
    const found = await rows(zone, 'DescribeSubDomainRecords', filter);
    return found.filter((row) => row.name === name && row.type === type && row.line === line);
  };
  const reader = rowReader((zone) => rows(zone, 'DescribeDomainRecords', {}), rowsOf);
  const drop = (id: string) => call('DeleteDomainRecord', { RecordId: id });

  /** Enables weights for an existing set, then sets each record's weight. */
  async function weigh(zone: string, { name, type, line, values, weights }: DnsRecords) {
    const slb = { SubDomain: subDomain(zone, name), DomainName: zone, Type: type, Line: line ?? DEFAULT_LINE };
    const setStatus = (open: boolean) => call('SetDNSSLBStatus', { ...slb, Open: String(open) });
    if (weights) await setStatus(true);
    for (const { id, value, weight } of await rowsOf(zone, { name, type, ...(line !== undefined && { line }) })) {
      // Disabled weights are still listed. Weight 1 each means no weighting.
      const wanted = weights?.[values.indexOf(value)] ?? 1;
      if (weight !== wanted) await call('UpdateDNSSLBWeight', { RecordId: id, Weight: String(wanted) });
    }
    if (!weights && values.length > 1) await setStatus(false);
  }

  return {
    concurrency: AT_ONCE,
    readAhead: reader.readAhead,
    weighting: () => Promise.resolve('eachLine'),
    async lines(zone) {
      const { RecordLines } = Lines.parse(await call('DescribeSupportLines', { DomainName: zone, Lang: 'en' }));
      return RecordLines.RecordLine.filter(({ LineCode }) => LineCode !== DEFAULT_LINE).map(
        ({ LineCode, LineDisplayName }) => ({ id: LineCode, name: LineDisplayName }),
      );
    },
    async list(zone, name) {
      if (name === undefined) return inSets(await rows(zone, 'DescribeDomainRecords', {}));
      const found = await rows(zone, 'DescribeSubDomainRecords', { SubDomain: subDomain(zone, name) });
      return inSets(found.filter((row) => row.name === name));
    },
    async upsert(zone, records) {
      const { name, type, line = DEFAULT_LINE, ttlSeconds } = records;
      const values = records.values.map((value) => plainValue(type, value));
      const write = (action: string, value: string, target: Record<string, string>) =>
        withTtl(ttlSeconds, 'QuotaExceeded.TTL', (seconds) =>
          call(action, {
            ...target,
            RR: withinZone(zone, name),
            Type: type,
            Value: value,
            TTL: String(seconds),
            Line: line,
          }),
        ).catch(ignoreCode('DomainRecordDuplicate'));
      const there = await reader.take(zone, records);
      // Weights have separate calls.
      const plain = there.map(({ weight: _, ...row }) => row);
      for (const change of rowChanges(plain, { values, ttlSeconds })) {
        if ('create' in change) await write('AddDomainRecord', change.create, { DomainName: zone });
        else if ('update' in change) await write('UpdateDomainRecord', change.value, { RecordId: change.update });
        else await drop(change.remove);
      }
      const hadWeights = there.some(({ weight = 1 }) => weight !== 1);
      if (records.weights || hadWeights) await weigh(zone, { ...records, values });
    },
    async remove(zone, records) {
      for (const { id } of await reader.take(zone, records)) await drop(id);
    },
  };
}
