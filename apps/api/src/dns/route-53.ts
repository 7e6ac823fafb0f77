// Amazon Route 53 by the vendor's SDK with our own fetch.
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
import type { Route53Input } from '@edgeloom/contract/dns-account/dns-account.ts';
import { plainName, plainValue, quoted, RecordType, unquoted, withDot } from './names.ts';
import { intoBatches, MAX_SINGLE_LOOKUPS } from './batches.ts';
import type { Ask, DnsAccount, DnsChange, DnsLine, DnsRecords } from './account.ts';
import { DnsRateLimitedError, DnsRefusedError } from './refusal.ts';
import { percentEncode } from './rfc3986.ts';
import { weightsIn } from './rows.ts';

/** Route 53 is global. A region selects the cloud. */
const regions = { international: 'us-east-1', china: 'cn-northwest-1' };
const PAGE = 300;
/** Rate limit errors. */
const busy = new Set(['Throttling', 'ThrottlingException', 'PriorRequestNotComplete', 'ServiceUnavailable']);
const GEO_PAGE = 100;
/** Limits per call. An UPSERT counts twice. */
const MOST = { records: 1000, letters: 32_000 };
/** The default location. */
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
  const ids = new Map<string, string>();
  const zoneId = async (zone: string): Promise<string> => {
    const known = ids.get(zone);
    if (known !== undefined) return known;
    const { HostedZones = [] } = await client.send(new ListHostedZonesByNameCommand({ DNSName: withDot(zone) }));
    const found = HostedZones.find(
      ({ Name, Config }) => plainName(Name ?? '') === zone && Config?.PrivateZone !== true,
    );
    if (!found?.Id) throw new DnsRefusedError(`the key reaches no public zone ${zone}`);
    ids.set(zone, found.Id);
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
  async function change(zone: string, changes: DnsChange[]) {
    const HostedZoneId = await zoneId(zone);
    const byName = Map.groupBy(changes, (one) => ('put' in one ? one.put : one.drop).name);
    const there: ResourceRecordSet[] = [];
    if (byName.size > MAX_SINGLE_LOOKUPS) there.push(...(await sets(HostedZoneId)));
    else for (const name of byName.keys()) there.push(...(await sets(HostedZoneId, { name, type: undefined })));
    const thereByName = Map.groupBy(there, ({ Name = '' }) => nameOf(Name));
    const steps = byName.entries().map(([name, some]) => stepsOf(thereByName.get(name) ?? [], some));
    for (const Changes of intoBatches(steps, isOneCall))
      await client.send(new ChangeResourceRecordSetsCommand({ HostedZoneId, ChangeBatch: { Changes } }));
  }

  return inItsWords({
    weighting: () => Promise.resolve('oneLine'),
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
      const found = await sets(await zoneId(zone), name === undefined ? undefined : { name, type: undefined });
      return [...Map.groupBy(found, ({ Name = '', Type }) => `${Type} ${nameOf(Name)}`).values()].flatMap((same) => [
        ...byLine(same).values(),
      ]);
    },
    upsert: (zone, put) => change(zone, [{ put }]),
    remove: (zone, drop) => change(zone, [{ drop }]),
    change,
  });
}

/** Sets of one name and type, by line. Aliases and other routing policies are not ours. */
function byLine(same: readonly ResourceRecordSet[]): Map<string | undefined, DnsRecords> {
  const read = same.flatMap((set) => {
    const type = RecordType.safeParse(set.Type);
    const { ResourceRecords: rows = [], TTL: ttlSeconds, GeoLocation: place, Weight: weight } = set;
    if (!type.success || ttlSeconds === undefined) return [];
    if (set.SetIdentifier !== undefined && !place && weight === undefined) return [];
    const values = rows.map(({ Value = '' }) => (type.data === 'TXT' ? unquoted(Value) : plainValue(type.data, Value)));
    const line = lineOf(place);
    return [{ name: nameOf(set.Name ?? ''), type: type.data, values, weight, ttlSeconds, line }];
  });
  return new Map(
    [...Map.groupBy(read, ({ line }) => line)].flatMap(([line, some]) => {
      const [first] = some;
      if (!first) return [];
      const { name, type, ttlSeconds } = first;
      const weights = weightsIn(some.flatMap(({ values, weight }) => values.map(() => weight)));
      const values = some.flatMap((one) => one.values);
      return [[line, { name, type, values, ttlSeconds, ...weights, ...(line !== undefined && { line }) }]];
    }),
  );
}

/** All changes of a name in one atomic call. */
function stepsOf(there: readonly ResourceRecordSet[], changes: readonly DnsChange[]): Change[] {
  const byType = Map.groupBy(changes, (one) => typeOf(('put' in one ? one.put : one.drop).type));
  const steps = [...byType].flatMap(([type, some]) => {
    const before = there.filter(({ Type }) => Type === type);
    const wanted = byLine(before);
    for (const one of some) {
      if ('put' in one) wanted.set(one.put.line, one.put);
      else wanted.delete(one.drop.line);
    }
    const ours = before.filter((set) => byLine([set]).size > 0);
    const after = policyOf(ours, [...wanted.values()]);
    const same = (a: ResourceRecordSet) => (b: ResourceRecordSet) =>
      a.SetIdentifier === b.SetIdentifier && (a.Weight === undefined) === (b.Weight === undefined);
    const gone = ours.filter((set) => !after.some(same(set)));
    const come = after.flatMap((set): Change[] => {
      const was = ours.find(same(set));
      if (was && textOf(was) === textOf(set)) return [];
      return [{ Action: was ? 'UPSERT' : 'CREATE', ResourceRecordSet: set }];
    });
    return [...gone.map((set): Change => ({ Action: 'DELETE', ResourceRecordSet: set })), ...come];
  });
  const isDeletion = ({ Action }: Change) => Action === 'DELETE';
  return [...steps.filter(isDeletion), ...steps.filter((step) => !isDeletion(step))];
}

/**
 * With geolocation records the default needs location `*`. Weighted records have one value each and cannot be combined
 * with geolocation.
 */
function policyOf(before: readonly ResourceRecordSet[], wanted: readonly DnsRecords[]): ResourceRecordSet[] {
  const hasPlaces = wanted.some(({ line }) => line !== undefined);
  return wanted.flatMap(({ name, type, values, weights, ttlSeconds, line }): ResourceRecordSet[] => {
    const rows = values.map((value) => ({ Value: type === 'TXT' ? quoted(value) : plainValue(type, value) }));
    const set = { Name: withDot(name), Type: typeOf(type), TTL: ttlSeconds };
    if (hasPlaces) {
      const there = before.find(({ GeoLocation: place }) => place && lineOf(place) === line);
      const SetIdentifier = there?.SetIdentifier ?? line ?? 'default';
      return [{ ...set, SetIdentifier, GeoLocation: placeOf(line), ResourceRecords: rows }];
    }
    if (!weights) return [{ ...set, ResourceRecords: rows }];
    return rows.map((row, at) => ({
      ...set,
      SetIdentifier: row.Value,
      Weight: weights[at] ?? 1,
      ResourceRecords: [row],
    }));
  });
}
const textOf = ({ TTL, Weight, GeoLocation: place, ResourceRecords: rows = [] }: ResourceRecordSet) =>
  JSON.stringify([TTL, Weight, lineOf(place), rows.map(({ Value }) => Value).toSorted()]);

function isOneCall(changes: readonly Change[]): boolean {
  let [records, letters] = [0, 0];
  for (const { Action, ResourceRecordSet: set } of changes) {
    const times = Action === 'UPSERT' ? 2 : 1;
    for (const { Value = '' } of set?.ResourceRecords ?? []) {
      records += times;
      letters += times * Value.length;
    }
  }
  return records <= MOST.records && letters <= MOST.letters;
}

/** `continent-AS`, `TW`, `US-CA`. Undefined for the default. */
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
/** Unusual characters are escaped in octal: `\052.example.com.`. */
const nameOf = (name: string) =>
  plainName(name.replace(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8))));

type AwsType = Exclude<RecordType, 'LUA'>;
function typeOf(type: RecordType): AwsType {
  if (type === 'LUA') throw new DnsRefusedError('this provider runs no programs');
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
      [value ?? ''].flat().map((one) => `${percentEncode(name)}=${percentEncode(one)}`),
    );
    const address = `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`;
    const response = await ask(asked.length > 0 ? `${address}?${asked.join('&')}` : address, {
      method,
      headers,
      ...(body !== undefined && { body: typeof body === 'string' ? body : Buffer.from(body).toString() }),
    });
    const content = new Uint8Array(await response.arrayBuffer());
    return { response: { statusCode: response.status, headers: Object.fromEntries(response.headers), body: content } };
  },
});

function inItsWords(account: DnsAccount & Required<Pick<DnsAccount, 'change'>>): DnsAccount {
  const translateError = (error: unknown): never => {
    if (error instanceof Route53ServiceException && busy.has(error.name))
      throw new DnsRateLimitedError(error.message, error.name, error.$response?.headers?.['retry-after'] ?? null);
    if (error instanceof Route53ServiceException) throw new DnsRefusedError(error.message, error.name);
    throw error;
  };
  return {
    ...account,
    lines: (zone) => account.lines(zone).catch(translateError),
    list: (zone, name) => account.list(zone, name).catch(translateError),
    upsert: (zone, records: DnsRecords) => account.upsert(zone, records).catch(translateError),
    remove: (zone, records) => account.remove(zone, records).catch(translateError),
    change: (zone, changes) => account.change(zone, changes).catch(translateError),
  };
}
