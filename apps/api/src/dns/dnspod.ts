// DNSPod by Tencent Cloud API 3.0, version 2021-03-23. We sign the few needed calls: the vendor's SDK brings 40
// packages and bypasses our outbound policy.
import * as z from 'zod';
import type { DnspodInput } from '@edgeloom/contract/dns-account/dns-account.ts';
import { fullName, plainValue, RecordType, withDot, withinZone } from './names.ts';
import { pace } from './pace.ts';
import type { Ask, DnsAccount, DnsKey } from './account.ts';
import { DnsRateLimitedError, DnsRefusedError, retryWhenLimited, ignoreCode, withTtl } from './refusal.ts';
import { inSets, rowChanges, rowReader, type Row } from './rows.ts';
import { tencentHeaders } from './tencent-signature.ts';

const endpoints = {
  china: 'https://dnspod.tencentcloudapi.com',
  international: 'https://dnspod.intl.tencentcloudapi.com',
};
const PAGE = 500;
/** The limit is 500 per second for each changing call. Batch calls, limited to 20, are asynchronous. */
const CALLS_A_SECOND = 250;
const AT_ONCE = 24;
/** Company plans. Others do not support weights. */
const SHARES_BY_WEIGHT = /_(EXTRA|EXPERT|ULTRA)$/i;
/** The default line. */
const DEFAULT = { RecordLine: '默认', RecordLineId: '0' };

const Fault = z.object({ Response: z.object({ Error: z.object({ Code: z.string(), Message: z.string() }) }) });
const RecordRow = z.object({
  RecordId: z.int(),
  Name: z.string(),
  Type: z.string(),
  Value: z.string(),
  LineId: z.string(),
  TTL: z.int(),
  Status: z.string(),
  Weight: z.int().nullish(),
});
const Records = z.object({
  Response: z.object({
    RecordCountInfo: z.object({ TotalCount: z.int() }),
    RecordList: z.array(RecordRow).nullish(),
  }),
});
const Domain = z.object({ Response: z.object({ DomainInfo: z.object({ Grade: z.string() }) }) });
const Lines = z.object({
  Response: z.object({ LineList: z.array(z.object({ Name: z.string(), LineId: z.string() })).nullish() }),
});

export function dnspod(
  { edition, ...key }: z.output<typeof DnspodInput>,
  ask: Ask,
  endpoint = endpoints[edition],
): DnsAccount {
  const turn = pace(CALLS_A_SECOND);
  const call = (action: string, params: object) =>
    retryWhenLimited(async () => {
      await turn();
      const body = JSON.stringify(params);
      const { host } = new URL(endpoint);
      const signing = { service: 'dnspod', host, action, version: '2021-03-23', body, at: new Date() };
      const response = await ask(endpoint, { method: 'POST', headers: tencentHeaders(signing, key), body });
      const content: unknown = await response.json().catch(() => null);
      const fault = Fault.safeParse(content);
      const { Code = '', Message = `${response.status} ${response.statusText}`.trim() } =
        fault.data?.Response.Error ?? {};
      if (response.status === 429 || Code.startsWith('RequestLimitExceeded'))
        throw new DnsRateLimitedError(Message, Code, response.headers.get('retry-after'));
      // A server error, rather than a refusal.
      if (response.status >= 500 || content === null) throw new Error(Message);
      if (!response.ok || fault.success) throw new DnsRefusedError(Message, Code);
      return content;
    });
  const rows = async (zone: string, filter: object): Promise<Row[]> => {
    const found: z.output<typeof RecordRow>[] = [];
    for (let total = 1; found.length < total;) {
      const page = { Domain: zone, ...filter, Offset: found.length, Limit: PAGE, ErrorOnEmpty: 'no' };
      const { RecordCountInfo, RecordList } = Records.parse(await call('DescribeRecordList', page)).Response;
      if (!RecordList?.length) break;
      found.push(...RecordList);
      total = RecordCountInfo.TotalCount;
    }
    return found.flatMap(({ RecordId, Name, Type, Value, LineId, TTL, Status, Weight }) => {
      const type = RecordType.safeParse(Type);
      if (!type.success || Status !== 'ENABLE') return [];
      return [
        {
          id: String(RecordId),
          name: fullName(zone, Name),
          type: type.data,
          value: plainValue(type.data, Value),
          ttlSeconds: TTL,
          // 0: no weight.
          ...(typeof Weight === 'number' && Weight > 0 && { weight: Weight }),
          ...(LineId !== DEFAULT.RecordLineId && { line: LineId }),
        },
      ];
    });
  };
  const rowsOf = async (zone: string, { name, type, line }: DnsKey) => {
    const filter = {
      Subdomain: withinZone(zone, name),
      RecordType: type,
      RecordLineId: line ?? DEFAULT.RecordLineId,
    };
    const found = await rows(zone, filter);
    return found.filter((row) => row.name === name && row.type === type && row.line === line);
  };
  const reader = rowReader((zone) => rows(zone, {}), rowsOf);
  const grade = async (zone: string) =>
    Domain.parse(await call('DescribeDomain', { Domain: zone })).Response.DomainInfo.Grade;
  const drop = (zone: string, id: string) => call('DeleteRecord', { Domain: zone, RecordId: Number(id) });

  return {
    concurrency: AT_ONCE,
    readAhead: reader.readAhead,
    weighting: async (zone) => (SHARES_BY_WEIGHT.test(await grade(zone)) ? 'eachLine' : 'none'),
    async lines(zone) {
      const asked = { Domain: zone, DomainGrade: await grade(zone) };
      const { LineList } = Lines.parse(await call('DescribeRecordLineList', asked)).Response;
      return (LineList ?? [])
        .filter(({ LineId }) => LineId !== DEFAULT.RecordLineId)
        .map(({ LineId, Name }) => ({ id: LineId, name: Name }));
    },
    async list(zone, name) {
      if (name === undefined) return inSets(await rows(zone, {}));
      const found = await rows(zone, { Subdomain: withinZone(zone, name) });
      return inSets(found.filter((row) => row.name === name));
    },
    async upsert(zone, records) {
      const { name, type, line, ttlSeconds } = records;
      const values = records.values.map((value) => plainValue(type, value));
      const there = await reader.take(zone, records);
      const wasWeighted = there.some(({ weight }) => weight !== undefined);
      const write = (action: string, value: string, weight: number | undefined, more: object = {}) =>
        withTtl(
          ttlSeconds,
          'LimitExceeded.RecordTtlLimit',
          (TTL) =>
            call(action, {
              Domain: zone,
              SubDomain: withinZone(zone, name),
              RecordType: type,
              ...DEFAULT,
              ...(line !== undefined && { RecordLineId: line }),
              Value: type === 'CNAME' ? withDot(value) : value,
              TTL,
              ...(weight !== undefined ? { Weight: weight } : wasWeighted && { Weight: 0 }),
              ...more,
            }),
          // New records are listed with a delay of half a minute.
        ).catch(ignoreCode('InvalidParameter.DomainRecordExist'));
      for (const change of rowChanges(there, { ...records, values })) {
        if ('create' in change) await write('CreateRecord', change.create, change.weight);
        else if ('update' in change)
          await write('ModifyRecord', change.value, change.weight, { RecordId: Number(change.update) });
        else await drop(zone, change.remove);
      }
    },
    async remove(zone, records) {
      for (const { id } of await reader.take(zone, records)) await drop(zone, id);
    },
  };
}
