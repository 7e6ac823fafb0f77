// Amazon Route 53 by the vendor's SDK, whose requests go out by our own fetch.
import {
  ChangeResourceRecordSetsCommand,
  ListGeoLocationsCommand,
  ListHostedZonesByNameCommand,
  ListResourceRecordSetsCommand,
  Route53Client,
  Route53ServiceException,
  type Change,
  type GeoLocation,
  type GeoLocationDetails,
  type ListGeoLocationsCommandOutput as Places,
  type ListResourceRecordSetsCommandOutput as Sets,
  type ResourceRecordSet,
} from '@aws-sdk/client-route-53';
import type * as z from 'zod';
import type { Route53Input } from '@edgeloom/contract/site-dns/site-dns.ts';
import { plainName, plainValue, quoted, RecordType, unquoted, withDot } from './names.ts';
import type { Ask, DnsAccount, DnsLine, DnsRecords } from './provider.ts';
import { DnsBusy, DnsRefusal } from './refusal.ts';
import { encoded } from './rfc3986.ts';

/** Route 53 has no regions; the two clouds are told apart by one of theirs. */
const regions = { international: 'us-east-1', china: 'cn-northwest-1' };
const PAGE = 300;
/** Asked too often, or by too many at once. */
const busy = new Set(['Throttling', 'ThrottlingException', 'PriorRequestNotComplete', 'ServiceUnavailable']);
const GEO_PAGE = 100;
/** Everybody whom no other location takes. */
const EVERYWHERE: GeoLocation = { CountryCode: '*' };

export function route53(
  { edition, keyID, keySecret }: z.output<typeof Route53Input>,
  ask: Ask,
  endpoint?: string,
): DnsAccount {
  const client = new Route53Client({
    region: regions[edition],
    credentials: { accessKeyId: keyID, secretAccessKey: keySecret },
    requestHandler: handler(ask),
    retryMode: 'standard',
    maxAttempts: 4,
    ...(endpoint !== undefined && { endpoint }),
  });
  const zoneId = async (zone: string): Promise<string> => {
    const { HostedZones = [] } = await client.send(new ListHostedZonesByNameCommand({ DNSName: withDot(zone) }));
    const found = HostedZones.find(
      ({ Name, Config }) => plainName(Name ?? '') === zone && Config?.PrivateZone !== true,
    );
    if (!found?.Id) throw new DnsRefusal(`the key reaches no public zone ${zone}`);
    return found.Id;
  };
  const sets = async (HostedZoneId: string, of?: { name: string; type: AwsType | undefined }) => {
    const found: ResourceRecordSet[] = [];
    let at: Pick<Sets, 'NextRecordName' | 'NextRecordType' | 'NextRecordIdentifier'> | null = of
      ? { NextRecordName: withDot(of.name), NextRecordType: of.type }
      : {};
    while (at) {
      const page: Sets = await client.send(
        new ListResourceRecordSetsCommand({
          HostedZoneId,
          StartRecordName: at.NextRecordName,
          StartRecordType: at.NextRecordType,
          StartRecordIdentifier: at.NextRecordIdentifier,
          MaxItems: PAGE,
        }),
      );
      found.push(...(page.ResourceRecordSets ?? []));
      const isPast =
        of &&
        (nameOf(page.NextRecordName ?? '') !== of.name || (of.type !== undefined && page.NextRecordType !== of.type));
      at = page.IsTruncated === true && !isPast ? page : null;
    }
    return found.filter(
      (set) => !of || (nameOf(set.Name ?? '') === of.name && (of.type === undefined || set.Type === of.type)),
    );
  };
  const change = (HostedZoneId: string, Changes: Change[]) =>
    client.send(new ChangeResourceRecordSetsCommand({ HostedZoneId, ChangeBatch: { Changes } }));

  return inItsWords({
    async lines() {
      const found: GeoLocationDetails[] = [];
      let at: Partial<Places> | null = {};
      while (at) {
        const page: Places = await client.send(
          new ListGeoLocationsCommand({
            StartContinentCode: at.NextContinentCode,
            StartCountryCode: at.NextCountryCode,
            StartSubdivisionCode: at.NextSubdivisionCode,
            MaxItems: GEO_PAGE,
          }),
        );
        found.push(...(page.GeoLocationDetailsList ?? []));
        at = page.IsTruncated === true ? page : null;
      }
      return found.flatMap((place): DnsLine[] => {
        const id = lineOf(place);
        const { ContinentName, CountryName = ContinentName, SubdivisionName } = place;
        return id === undefined
          ? []
          : [{ id, name: [CountryName, SubdivisionName].filter((part) => part !== undefined).join(' / ') }];
      });
    },
    async list(zone, name) {
      return (await sets(await zoneId(zone), name === undefined ? undefined : { name, type: undefined })).flatMap(
        (set) => {
          const type = RecordType.safeParse(set.Type);
          const { ResourceRecords: rows = [], TTL: ttlSeconds, GeoLocation: place, SetIdentifier: identifier } = set;
          // What is an alias, or steered in another way than by place, is none of ours.
          if (!type.success || ttlSeconds === undefined || (identifier !== undefined && !place)) return [];
          const values = rows.map(({ Value = '' }) =>
            type.data === 'TXT' ? unquoted(Value) : plainValue(type.data, Value),
          );
          const line = lineOf(place);
          return [
            { name: nameOf(set.Name ?? ''), type: type.data, values, ttlSeconds, ...(line !== undefined && { line }) },
          ];
        },
      );
    },
    async upsert(zone, { name, type, line, values, ttlSeconds }) {
      const id = await zoneId(zone);
      const there = await sets(id, { name, type: typeOf(type) });
      const wanted = {
        Name: withDot(name),
        Type: typeOf(type),
        TTL: ttlSeconds,
        ResourceRecords: values.map((value) => ({ Value: type === 'TXT' ? quoted(value) : value })),
      };
      const everybody = there.find(({ SetIdentifier }) => SetIdentifier === undefined);
      if (line === undefined && !there.some(({ GeoLocation: place }) => place)) {
        await change(id, [{ Action: 'UPSERT', ResourceRecordSet: wanted }]);
        return;
      }
      // Beside a set of a place, the one for everybody has to be one too: it becomes that in the same step.
      const placed = (set: ResourceRecordSet, of: string | undefined): ResourceRecordSet => {
        const same = there.find(({ GeoLocation: place }) => place && lineOf(place) === of);
        return { ...set, SetIdentifier: same?.SetIdentifier ?? of ?? 'default', GeoLocation: placeOf(of) };
      };
      await change(id, [
        ...(everybody ? [{ Action: 'DELETE' as const, ResourceRecordSet: everybody }] : []),
        ...(everybody && line !== undefined
          ? [{ Action: 'CREATE' as const, ResourceRecordSet: placed(everybody, undefined) }]
          : []),
        { Action: 'UPSERT', ResourceRecordSet: placed(wanted, line) },
      ]);
    },
    async remove(zone, { name, type, line }) {
      const id = await zoneId(zone);
      const there = (await sets(id, { name, type: typeOf(type) })).filter(
        ({ GeoLocation: place, SetIdentifier }) => lineOf(place) === line && (place || SetIdentifier === undefined),
      );
      if (there.length > 0)
        await change(
          id,
          there.map((set) => ({ Action: 'DELETE' as const, ResourceRecordSet: set })),
        );
    },
  });
}

/** `continent-AS`, `TW`, `US-CA`; of everybody, none. */
function lineOf(place: GeoLocation | undefined): string | undefined {
  const { ContinentCode, CountryCode, SubdivisionCode } = place ?? EVERYWHERE;
  if (ContinentCode !== undefined && CountryCode === undefined) return `continent-${ContinentCode}`;
  if (CountryCode === undefined || CountryCode === '*') return undefined;
  return SubdivisionCode === undefined ? CountryCode : `${CountryCode}-${SubdivisionCode}`;
}
function placeOf(line: string | undefined): GeoLocation {
  if (line === undefined) return EVERYWHERE;
  const [first = '', second] = line.split('-');
  if (first === 'continent') return { ContinentCode: second };
  return { CountryCode: first, ...(second !== undefined && { SubdivisionCode: second }) };
}
/** Signs that are unusual in names are answered by their octal codes: `\052.example.com.`. */
const nameOf = (name: string) =>
  plainName(name.replace(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8))));

type AwsType = Exclude<RecordType, 'LUA'>;
function typeOf(type: RecordType): AwsType {
  if (type === 'LUA') throw new DnsRefusal('this provider runs no programs');
  return type;
}

interface AwsRequest {
  method: string;
  protocol: string;
  hostname: string;
  port?: number;
  path: string;
  query?: Record<string, string | string[] | null>;
  headers: Record<string, string>;
  body?: string | Uint8Array;
}
const handler = (ask: Ask) => ({
  async handle({ method, protocol, hostname, port, path, query = {}, headers, body }: AwsRequest) {
    const asked = Object.entries(query).flatMap(([name, value]) =>
      [value ?? ''].flat().map((one) => `${encoded(name)}=${encoded(one)}`),
    );
    const address = `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`;
    const answer = await ask(asked.length > 0 ? `${address}?${asked.join('&')}` : address, {
      method,
      headers,
      ...(body !== undefined && { body: typeof body === 'string' ? body : Buffer.from(body).toString() }),
    });
    const content = new Uint8Array(await answer.arrayBuffer());
    return { response: { statusCode: answer.status, headers: Object.fromEntries(answer.headers), body: content } };
  },
});

function inItsWords(account: DnsAccount): DnsAccount {
  const told = (error: unknown): never => {
    if (error instanceof Route53ServiceException && busy.has(error.name))
      throw new DnsBusy(error.message, error.name, error.$response?.headers?.['retry-after'] ?? null);
    if (error instanceof Route53ServiceException) throw new DnsRefusal(error.message, error.name);
    throw error;
  };
  return {
    lines: (zone) => account.lines(zone).catch(told),
    list: (zone, name) => account.list(zone, name).catch(told),
    upsert: (zone, records: DnsRecords) => account.upsert(zone, records).catch(told),
    remove: (zone, records) => account.remove(zone, records).catch(told),
  };
}
