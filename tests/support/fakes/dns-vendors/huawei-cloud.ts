// Fake Huawei Cloud DNS: zones of API version 2, record sets and lines of version 2.1, SDK-HMAC-SHA256.
import {
  sha256,
  hmac,
  headerLines,
  isFresh,
  json,
  readAuthorization,
  Records,
  sortedQuery,
  startFakeVendor,
  type VendorResponse,
  type VendorRequest,
  type FakeVendor,
} from './fake-vendor.ts';

/** Verifies the request signature. */
export function isSignedByHuawei({ method, url, headers, body }: VendorRequest, secret: string): boolean {
  const { algorithm, part } = readAuthorization(headers.authorization);
  const names = part('SignedHeaders').split(';');
  if (algorithm !== 'SDK-HMAC-SHA256' || !['host', 'x-sdk-date'].every((name) => names.includes(name))) return false;
  const path = url.pathname.endsWith('/') ? url.pathname : `${url.pathname}/`;
  const canonical = `${method}\n${path}\n${sortedQuery(url)}\n${headerLines(headers, names)}\n${part('SignedHeaders')}\n${sha256(body)}`;
  const toSign = `SDK-HMAC-SHA256\n${String(headers['x-sdk-date'])}\n${sha256(canonical)}`;
  return hmac(secret, toSign).toString('hex') === part('Signature');
}

const DEFAULT = 'default_view';
const lines = [DEFAULT, 'Dianxin', 'Liantong', 'Abroad'];
const errorResponse = (status: number, code: string, message: string): VendorResponse =>
  json(status, { code, message });

export async function startHuaweiCloud(zone: string, { smallPlan = false } = {}): Promise<FakeVendor> {
  const key = { keyID: 'QTWAOYTTINDUT2QVKYUC', keySecret: 'MFyfvK41ba2giqM7Uio6PznpdUKGpownRZlmVmHc' };
  const records = new Records();
  const zoneId = '2c9eb155587194ec01587224c9f90149';

  const shown = ({ id, name, type, line, values, ttl, weight }: Records['rows'][number]) => ({
    id,
    name: `${name}.`,
    type,
    ttl,
    records: values,
    line,
    weight: weight ?? null,
    status: 'ACTIVE',
    zone_id: zoneId,
  });
  const respond = ({ method, url, body }: VendorRequest): VendorResponse => {
    const asked = (name: string) => url.searchParams.get(name);
    const at = url.pathname.split('/').filter((part) => part !== '');
    if (method === 'GET' && at.join('/') === 'v2.1/system-lines')
      return json(200, { lines: lines.map((id) => ({ id, name: `Line ${id}`, father_id: '' })) });
    if (method === 'GET' && at.join('/') === 'v2/zones') {
      // Without search_mode=equal the name matches as a substring.
      const wanted = asked('name') ?? '';
      const is = (name: string) => (asked('search_mode') === 'equal' ? name === wanted : name.includes(wanted));
      const zones = [
        { id: 'another', name: `my-${zone}.` },
        { id: zoneId, name: `${zone}.` },
      ].filter(({ name }) => is(name));
      return json(200, { zones, metadata: { total_count: zones.length } });
    }
    if (at[0] !== 'v2.1' || at[2] !== zoneId || at[3] !== 'recordsets')
      return errorResponse(404, 'DNS.0302', 'This zone does not exist.');
    const there = records.rows.find(({ id }) => id === at[4]);
    if (method === 'GET') {
      const [limit, offset] = [Number(asked('limit') ?? 500), Number(asked('offset') ?? 0)];
      if (limit > 500) return errorResponse(400, 'DNS.0301', 'limit');
      const found = records.rows.filter(
        ({ name, type }) => `${name}.` === (asked('name') ?? `${name}.`) && type === (asked('type') ?? type),
      );
      const page = found.slice(offset, offset + limit).map(shown);
      return json(200, { recordsets: page, metadata: { total_count: found.length } });
    }
    if (method === 'DELETE')
      return there && records.drop(there.id)
        ? json(202, shown(there))
        : errorResponse(404, 'DNS.0313', 'This record set does not exist.');
    const content = JSON.parse(body);
    const isQuoted = content.records.every((value: string) => /^("[^"]{0,255}"\s?)+$/.test(value));
    if (content.type === 'TXT' && !isQuoted) return errorResponse(400, 'DNS.0307', 'The record value is invalid.');
    if (!content.name.endsWith('.')) return errorResponse(400, 'DNS.0303', 'The name is invalid.');
    const row = {
      name: content.name.slice(0, -1),
      type: content.type,
      line: content.line ?? there?.line ?? DEFAULT,
      values: content.records,
      ttl: content.ttl ?? 300,
      // An omitted field keeps its value.
      weight: content.weight ?? there?.weight,
    };
    if (!lines.includes(row.line)) return errorResponse(400, 'DNS.0308', 'The line is invalid.');
    if (smallPlan && row.ttl < 300) return errorResponse(400, 'DNS.0319', 'The TTL parameter has been out of range.');
    if (row.weight !== undefined && !(row.weight >= 0 && row.weight <= 100))
      return errorResponse(400, 'DNS.0323', 'The weight must range from 0 to 100.');
    const beside = records.rows.filter(
      ({ name, line, ...one }) => one.id !== there?.id && name === row.name && line === row.line,
    );
    const same = beside.filter(({ type }) => type === row.type);
    // Either all records of a name have a weight, or there is only one record.
    if (same.length > 0 && (row.weight === undefined || same.some(({ weight }) => weight === undefined)))
      return errorResponse(400, 'DNS.0312', 'This record set already exists.');
    if (same.length >= 20)
      return errorResponse(400, 'DNS.0322', 'So many of one name, type and line may have no weight.');
    if (method === 'PUT' && there) return json(202, shown(Object.assign(there, row)));
    const isTaken = beside.some(({ type }) => type !== row.type && [type, row.type].includes('CNAME'));
    return isTaken
      ? errorResponse(400, 'DNS.0312', 'This record set already exists.')
      : json(202, shown(records.add(row)));
  };
  const checkSignature = (asked: VendorRequest) => {
    const [, year, month, day, hour, minute, second] =
      /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(String(asked.headers['x-sdk-date'])) ?? [];
    const isRight =
      readAuthorization(asked.headers.authorization).part('Access') === key.keyID &&
      isFresh(Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`), 15) &&
      isSignedByHuawei(asked, key.keySecret);
    return isRight
      ? null
      : json(401, {
          error_msg: 'Incorrect IAM authentication information: verify aksk signature fail',
          error_code: 'APIGW.0301',
          request_id: 'r',
        });
  };
  const rateLimited = json(429, {
    error_msg: 'The throttling threshold has been reached',
    error_code: 'APIGW.0308',
    request_id: 'r',
  });
  return { ...(await startFakeVendor({ checkSignature, rateLimited, respond })), zone, key, records };
}
