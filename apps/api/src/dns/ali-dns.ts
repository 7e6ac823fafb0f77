// Alibaba Cloud DNS by its API, version 2015-01-09. The vendor's SDK is 43 MB of 40 packages and goes out by itself, past our
// outbound policy: we sign the few calls that we need.
import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { KeyPair } from '@edgeloom/contract/site-dns/site-dns.ts';
import { alibabaCall } from './alibaba-signature.ts';
import { inFull, plainValue, RecordType, withinZone } from './names.ts';
import type { Ask, DnsAccount, DnsRecords } from './provider.ts';
import { DnsBusy, DnsRefusal, patiently, unless, withTtl } from './refusal.ts';
import { inSets, replaceRows, type Row } from './rows.ts';

/** Of accounts of both its clouds. */
const API = 'https://alidns.aliyuncs.com';
const PAGE = 500;
/** For everybody whom no other line takes. */
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
      }),
    ),
  }),
});
const Lines = z.object({
  RecordLines: z.object({ RecordLine: z.array(z.object({ LineCode: z.string(), LineDisplayName: z.string() })) }),
});

export function aliDns(key: KeyPair, ask: Ask, endpoint = API): DnsAccount {
  const call = (action: string, params: Record<string, string>) =>
    patiently(async () => {
      const { host } = new URL(endpoint);
      const signing = { host, action, version: '2015-01-09', params, nonce: randomUUID(), at: new Date() };
      const { query, headers } = alibabaCall(signing, key);
      const answer = await ask(`${endpoint}/?${query}`, { method: 'POST', headers });
      const said: unknown = await answer.json().catch(() => null);
      if (answer.ok) return said;
      const { Code, Message } = Fault.safeParse(said).data ?? {
        Code: '',
        Message: `${answer.status} ${answer.statusText}`.trim(),
      };
      if (answer.status === 429 || Code.startsWith('Throttling'))
        throw new DnsBusy(Message, Code, answer.headers.get('retry-after'));
      throw new DnsRefusal(Message, Code);
    });
  const rows = async (zone: string, action: string, filter: Record<string, string>): Promise<Row[]> => {
    const found = [];
    for (let page = 1, total = 1; found.length < total; page += 1) {
      const asked = { DomainName: zone, ...filter, PageNumber: String(page), PageSize: String(PAGE) };
      const { TotalCount, DomainRecords } = Records.parse(await call(action, asked));
      if (DomainRecords.Record.length === 0) break;
      found.push(...DomainRecords.Record);
      total = TotalCount;
    }
    return found.flatMap(({ RecordId, RR, Type, Value, Line, TTL, Status }) => {
      const type = RecordType.safeParse(Type);
      if (!type.success || Status.toUpperCase() !== 'ENABLE') return [];
      return [
        {
          id: RecordId,
          name: inFull(zone, RR),
          type: type.data,
          value: plainValue(type.data, Value),
          ttlSeconds: TTL,
          ...(Line !== DEFAULT_LINE && { line: Line }),
        },
      ];
    });
  };
  const rowsOf = async (zone: string, { name, type, line }: Pick<DnsRecords, 'name' | 'type' | 'line'>) => {
    const filter = { SubDomain: name === zone ? `@.${zone}` : name, Type: type, Line: line ?? DEFAULT_LINE };
    const found = await rows(zone, 'DescribeSubDomainRecords', filter);
    return found.filter((row) => row.name === name && row.type === type && row.line === line);
  };
  const drop = (id: string) => call('DeleteDomainRecord', { RecordId: id });

  return {
    async lines(zone) {
      const { RecordLines } = Lines.parse(await call('DescribeSupportLines', { DomainName: zone, Lang: 'en' }));
      return RecordLines.RecordLine.filter(({ LineCode }) => LineCode !== DEFAULT_LINE).map(
        ({ LineCode, LineDisplayName }) => ({ id: LineCode, name: LineDisplayName }),
      );
    },
    async list(zone, name) {
      if (name === undefined) return inSets(await rows(zone, 'DescribeDomainRecords', {}));
      const found = await rows(zone, 'DescribeSubDomainRecords', { SubDomain: name === zone ? `@.${zone}` : name });
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
        );
      await replaceRows(
        await rowsOf(zone, records),
        { values, ttlSeconds },
        {
          create: (value) => write('AddDomainRecord', value, { DomainName: zone }),
          update: (id, value) =>
            write('UpdateDomainRecord', value, { RecordId: id }).catch(unless('DomainRecordDuplicate')),
          remove: drop,
        },
      );
    },
    async remove(zone, records) {
      for (const { id } of await rowsOf(zone, records)) await drop(id);
    },
  };
}
