// Fake Amazon Route 53: version 2013-04-01, XML, Signature Version 4.
import {
  sha256,
  hmac,
  headerLines,
  isFresh,
  readAuthorization,
  Records,
  sortedQuery,
  startFakeVendor,
  type VendorResponse,
  type VendorRequest,
  type StoredRecord,
  type FakeVendor,
} from './fake-vendor.ts';

/** Verifies the request signature. */
export function isSignedByAmazon({ method, url, headers, body }: VendorRequest, secret: string): boolean {
  const { algorithm, part } = readAuthorization(headers.authorization);
  const [, date = '', region = '', service = '', end = ''] = part('Credential').split('/');
  const names = part('SignedHeaders').split(';');
  if (algorithm !== 'AWS4-HMAC-SHA256' || !['host', 'x-amz-date'].every((name) => names.includes(name))) return false;
  const canonical = `${method}\n${url.pathname}\n${sortedQuery(url)}\n${headerLines(headers, names)}\n${part('SignedHeaders')}\n${sha256(body)}`;
  const toSign = `AWS4-HMAC-SHA256\n${String(headers['x-amz-date'])}\n${date}/${region}/${service}/${end}\n${sha256(canonical)}`;
  const key = hmac(hmac(hmac(hmac(`AWS4${secret}`, date), region), service), end);
  return hmac(key, toSign).toString('hex') === part('Signature');
}

const places = [
  { xml: '<ContinentCode>AS</ContinentCode><ContinentName>Asia</ContinentName>' },
  { xml: '<CountryCode>*</CountryCode><CountryName>Default</CountryName>' },
  { xml: '<CountryCode>TW</CountryCode><CountryName>Taiwan</CountryName>' },
  { xml: '<CountryCode>US</CountryCode><CountryName>United States</CountryName>' },
  {
    xml: '<CountryCode>US</CountryCode><CountryName>United States</CountryName><SubdivisionCode>CA</SubdivisionCode><SubdivisionName>California</SubdivisionName>',
  },
];
const head = '<?xml version="1.0" encoding="UTF-8"?>';
const space = 'xmlns="https://route53.amazonaws.com/doc/2013-04-01/"';
const reply = (name: string, content: string): VendorResponse => ({
  status: 200,
  body: `${head}<${name} ${space}>${content}</${name}>`,
  headers: { 'content-type': 'text/xml' },
});
const errorResponse = (status: number, code: string, message: string): VendorResponse => ({
  status,
  body: `${head}<ErrorResponse ${space}><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error><RequestId>r</RequestId></ErrorResponse>`,
  headers: { 'content-type': 'text/xml' },
});
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
const plain = (text: string) =>
  text.replaceAll('&lt;', '<').replaceAll('&quot;', '"').replaceAll('&#xD;', '\r').replaceAll('&amp;', '&');
const all = (xml: string, name: string) =>
  [...xml.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))].map(([, inner = '']) => inner);
const one = (xml: string, name: string) => {
  const [found] = all(xml, name);
  return found === undefined ? undefined : plain(found);
};
/** Record sets of one name and type share one routing policy: simple, geolocation or weighted. */
const kindOf = (line: string) => (line === '' ? 'simple' : line.includes('<Weight>') ? 'weight' : 'place');
/** Route 53 escapes special characters of names. */
const escapeName = (name: string) =>
  `${name
    .replace(/\.$/, '')
    .toLowerCase()
    .replaceAll('*', String.raw`\052`)}.`;

/** Limits of one request. An UPSERT counts twice. */
function isTooLarge(body: string): boolean {
  let [records, letters] = [0, 0];
  for (const xml of all(body, 'Change')) {
    const times = one(xml, 'Action') === 'UPSERT' ? 2 : 1;
    for (const value of all(xml, 'Value')) {
      records += times;
      letters += times * plain(value).length;
    }
  }
  return records > 1000 || letters > 32_000;
}

/** The stored line is the geolocation XML and set identifier, or empty. */
const setXml = ({ name, type, line, values, ttl }: Pick<StoredRecord, 'name' | 'type' | 'line' | 'values' | 'ttl'>) =>
  `<ResourceRecordSet><Name>${escapeName(name)}</Name><Type>${type}</Type>${line}<TTL>${ttl}</TTL><ResourceRecords>${values
    .map((value) => `<ResourceRecord><Value>${escaped(value)}</Value></ResourceRecord>`)
    .join('')}</ResourceRecords></ResourceRecordSet>`;

export async function startRoute53(zone: string): Promise<FakeVendor> {
  const key = { keyID: 'AKIAIOSFODNN7EXAMPLE', keySecret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' };
  const records = new Records();
  const zoneId = 'Z1D633PJN98FT9';
  const sorted = () => records.rows.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
  const orderOf = ({ name, type, line }: StoredRecord) =>
    `${name
      .split('.')
      .toReversed()
      .join('.')
      .replaceAll('*', String.raw`\052`)} ${type} ${one(line, 'SetIdentifier') ?? ''}`;

  const change = (body: string): VendorResponse => {
    const wrong = (message: string) => errorResponse(400, 'InvalidChangeBatch', `[${message}]`);
    if (isTooLarge(body)) return wrong('Number of records limit of 1000 or of 32000 characters exceeded.');
    const before = { rows: records.rows.map((row) => ({ ...row })), gaps: [...records.gaps] };
    for (const changeXml of all(body, 'Change')) {
      const identifier = one(changeXml, 'SetIdentifier');
      const [geo] = all(changeXml, 'GeoLocation');
      const weight = one(changeXml, 'Weight');
      const policy = weight === undefined ? `<GeoLocation>${geo ?? ''}</GeoLocation>` : `<Weight>${weight}</Weight>`;
      const row = {
        name: (one(changeXml, 'Name') ?? '').replace(/\.$/, '').replaceAll(String.raw`\052`, '*'),
        type: one(changeXml, 'Type') ?? '',
        line: identifier === undefined ? '' : `<SetIdentifier>${escaped(identifier)}</SetIdentifier>${policy}`,
        values: all(changeXml, 'Value').map(plain),
        ttl: Number(one(changeXml, 'TTL')),
      };
      const action = one(changeXml, 'Action');
      if (row.name.split('.').some((label) => label.length > 63)) {
        Object.assign(records, before);
        return wrong(`FATAL problem: DomainLabelTooLong (Domain label is too long) encountered with '${row.name}'`);
      }
      const others = records.rows.filter(({ name, type }) => name === row.name && type === row.type);
      const there = others.find(({ line }) => one(line, 'SetIdentifier') === identifier);
      const undo = (message: string) => {
        Object.assign(records, before);
        return wrong(message);
      };
      if (row.type === 'TXT' && !row.values.every((value) => /^("([^"\\]|\\.){0,255}"\s?)+$/.test(value)))
        return undo(`Invalid Resource Record: ${row.values.join(' ')}`);
      if (action === 'DELETE') {
        const isExact = there && JSON.stringify(there.values) === JSON.stringify(row.values) && there.ttl === row.ttl;
        if (!isExact) return undo(`Tried to delete resource record set ${row.name} but it was not found`);
        records.rows = records.rows.filter((kept) => kept !== there);
        continue;
      }
      if (action === 'CREATE' && there) return undo(`Tried to create ${row.name} but it already exists`);
      if (weight !== undefined && !(Number(weight) >= 0 && Number(weight) <= 255))
        return undo(`Invalid weight ${weight}`);
      if (others.some(({ line }) => kindOf(line) !== kindOf(row.line)))
        return undo(`RRSet ${row.name} conflicts with a set of another routing policy`);
      if (geo !== undefined && others.some((kept) => kept !== there && all(kept.line, 'GeoLocation')[0] === geo))
        return undo(`RRSet ${row.name} has the location of another set`);
      if (there) Object.assign(there, row);
      else records.add(row);
    }
    const info = '<Id>/change/C1</Id><Status>PENDING</Status><SubmittedAt>2026-01-01T00:00:00Z</SubmittedAt>';
    return reply('ChangeResourceRecordSetsResponse', `<ChangeInfo>${info}</ChangeInfo>`);
  };
  const respond = ({ method, url, body }: VendorRequest): VendorResponse => {
    const asked = (name: string) => url.searchParams.get(name);
    const path = url.pathname.replace(/\/$/, '');
    if (path === '/2013-04-01/hostedzonesbyname') {
      // The first zone of this name is private and must be skipped; another name follows.
      const zones = [
        ['Z0PRIVATE', zone, true],
        [zoneId, zone, false],
        ['Z9LATER', `z${zone}`, false],
      ].map(
        ([id, name, isPrivate]) =>
          `<HostedZone><Id>/hostedzone/${id}</Id><Name>${name}.</Name><CallerReference>c</CallerReference><Config><PrivateZone>${isPrivate}</PrivateZone></Config></HostedZone>`,
      );
      const found = asked('dnsname') === `${zone}.` ? zones.join('') : zones.slice(2).join('');
      return reply(
        'ListHostedZonesByNameResponse',
        `<HostedZones>${found}</HostedZones><DNSName>${asked('dnsname')}</DNSName><IsTruncated>false</IsTruncated><MaxItems>100</MaxItems>`,
      );
    }
    if (path === '/2013-04-01/geolocations') {
      const start = places.findIndex(
        ({ xml }) =>
          (one(xml, 'ContinentCode') ?? null) === asked('startcontinentcode') &&
          (one(xml, 'CountryCode') ?? null) === asked('startcountrycode') &&
          (one(xml, 'SubdivisionCode') ?? null) === asked('startsubdivisioncode'),
      );
      // Two zones per page, so that clients must paginate.
      const from = Math.max(0, start);
      const next = places[from + 2]?.xml;
      const nextXml = next
        ? ['ContinentCode', 'CountryCode', 'SubdivisionCode']
            .map((name) =>
              all(next, name)
                .map((code) => `<Next${name}>${code}</Next${name}>`)
                .join(''),
            )
            .join('')
        : '';
      const list = places.slice(from, from + 2).map(({ xml }) => `<GeoLocationDetails>${xml}</GeoLocationDetails>`);
      return reply(
        'ListGeoLocationsResponse',
        `<GeoLocationDetailsList>${list.join('')}</GeoLocationDetailsList><IsTruncated>${next !== undefined}</IsTruncated>${nextXml}<MaxItems>2</MaxItems>`,
      );
    }
    if (path !== `/2013-04-01/hostedzone/${zoneId}/rrset`)
      return errorResponse(404, 'NoSuchHostedZone', `No hosted zone found: ${path}`);
    if (method === 'POST') return change(body);
    const [name, type, identifier] = ['name', 'type', 'identifier'].map(asked);
    const start = {
      name: (name ?? '').replace(/\.$/, '').replaceAll(String.raw`\052`, '*'),
      type: type ?? '',
      line: `<SetIdentifier>${identifier ?? ''}</SetIdentifier>`,
    };
    const rest =
      name === null
        ? sorted()
        : sorted().filter((row) => orderOf(row) >= orderOf({ ...start, id: '', values: [], ttl: 0 }));
    const size = Math.min(Number(asked('maxitems') ?? 300), 300);
    const next = rest[size];
    const nextIdentifier = next && one(next.line, 'SetIdentifier');
    return reply(
      'ListResourceRecordSetsResponse',
      `<ResourceRecordSets>${rest.slice(0, size).map(setXml).join('')}</ResourceRecordSets><IsTruncated>${next !== undefined}</IsTruncated>${
        next
          ? `<NextRecordName>${escapeName(next.name)}</NextRecordName><NextRecordType>${next.type}</NextRecordType>${nextIdentifier === undefined ? '' : `<NextRecordIdentifier>${nextIdentifier}</NextRecordIdentifier>`}`
          : ''
      }<MaxItems>${size}</MaxItems>`,
    );
  };
  const checkSignature = (asked: VendorRequest) => {
    const id = readAuthorization(asked.headers.authorization).part('Credential').split('/')[0];
    const date = String(asked.headers['x-amz-date']).replace(
      /^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)$/,
      '$1-$2-$3:$4:$5',
    );
    if (id !== key.keyID)
      return errorResponse(403, 'InvalidClientTokenId', 'The security token included in the request is invalid.');
    if (!isFresh(Date.parse(date), 5)) return errorResponse(403, 'RequestExpired', 'Request has expired.');
    return isSignedByAmazon(asked, key.keySecret)
      ? null
      : errorResponse(
          403,
          'SignatureDoesNotMatch',
          'The request signature we calculated does not match the signature you provided.',
        );
  };
  const rateLimited = errorResponse(400, 'Throttling', 'Rate exceeded');
  return { ...(await startFakeVendor({ checkSignature, rateLimited, respond })), zone, key, records };
}
