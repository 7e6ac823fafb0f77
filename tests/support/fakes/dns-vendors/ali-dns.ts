// Fake Alibaba Cloud DNS: version 2015-01-09, RPC, ACS3-HMAC-SHA256.
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
export function isSignedByAlibaba({ method, url, headers, body }: VendorRequest, secret: string): boolean {
  const { algorithm, part } = readAuthorization(headers.authorization);
  const names = part('SignedHeaders').split(';');
  const mustBe = ['host', ...Object.keys(headers).filter((name) => name.startsWith('x-acs-'))];
  if (algorithm !== 'ACS3-HMAC-SHA256' || !mustBe.every((name) => names.includes(name))) return false;
  if (headers['x-acs-content-sha256'] !== sha256(body)) return false;
  const canonical = [
    method,
    url.pathname,
    sortedQuery(url),
    headerLines(headers, names),
    part('SignedHeaders'),
    headers['x-acs-content-sha256'],
  ].join('\n');
  const wanted = hmac(secret, `ACS3-HMAC-SHA256\n${sha256(canonical)}`).toString('hex');
  return wanted === part('Signature');
}

const lines = ['default', 'telecom', 'unicom', 'oversea'];
const errorResponse = (status: number, Code: string, Message: string): VendorResponse =>
  json(status, { Code, Message, RequestId: 'r', HostId: 'alidns.aliyuncs.com' });

export async function startAliDns(zone: string, { smallPlan = false } = {}): Promise<FakeVendor> {
  const key = { keyID: 'LTAI5tFakeFakeFakeFake12', keySecret: 'a secret of thirty letters 000' };
  const records = new Records();
  const nonces = new Set<string>();
  /** Names with weights enabled. */
  const weighted = new Set<string>();
  const setOf = ({ name, type, line }: { name: string; type: string; line: string }) => `${type} ${name} ${line}`;
  const inFull = (within: string) => (within === '@' ? zone : `${within}.${zone}`);

  const respond = ({ url, headers }: VendorRequest): VendorResponse => {
    const asked = (name: string) => url.searchParams.get(name);
    const action = String(headers['x-acs-action']);
    const there = records.rows.find(({ id }) => id === asked('RecordId'));
    if (asked('DomainName') !== null && asked('DomainName') !== zone)
      return errorResponse(400, 'InvalidDomainName.NoExist', 'The specified domain name does not exist.');
    switch (action) {
      case 'DescribeSupportLines':
        return json(200, {
          RecordLines: {
            RecordLine: lines.map((line) => ({ LineCode: line, LineName: line, LineDisplayName: `Line ${line}` })),
          },
        });
      case 'DescribeDomainRecords':
      case 'DescribeSubDomainRecords': {
        const [number, size] = [Number(asked('PageNumber') ?? 1), Number(asked('PageSize') ?? 20)];
        if (size > (action === 'DescribeDomainRecords' ? 500 : 100))
          return errorResponse(400, 'InvalidParameter', 'PageSize');
        const sub = asked('SubDomain')?.replace(/^@\./, '');
        const found = records.rows.filter(
          ({ name, type, line }) =>
            name === (sub ?? name) && type === (asked('Type') ?? type) && line === (asked('Line') ?? line),
        );
        const page = found.slice((number - 1) * size, number * size);
        return json(200, {
          TotalCount: found.length,
          PageNumber: number,
          PageSize: size,
          DomainRecords: {
            Record: page.map(({ id, name, type, line, values, ttl, weight }) => ({
              RecordId: id,
              RR: name === zone ? '@' : name.slice(0, -zone.length - 1),
              DomainName: zone,
              Type: type,
              Value: values[0],
              Line: line,
              TTL: ttl,
              Status: 'ENABLE',
              Locked: false,
              // A record that ever had a weight returns the weight even when weights are disabled.
              ...(weight !== undefined && { Weight: weight }),
            })),
          },
        });
      }
      case 'AddDomainRecord':
      case 'UpdateDomainRecord': {
        const type = asked('Type') ?? '';
        const value = asked('Value') ?? '';
        const line = asked('Line') ?? 'default';
        const row = { name: inFull(asked('RR') ?? ''), type, line, values: [value], ttl: Number(asked('TTL') ?? 600) };
        if (!lines.includes(line)) return errorResponse(400, 'UnsupportedLine', 'The line is not supported.');
        if (smallPlan && row.ttl < 600)
          return errorResponse(400, 'QuotaExceeded.TTL', 'The TTL has exceeded the limit of the domain edition.');
        const others = records.rows.filter((one) => one.name === row.name && one.line === line && one !== there);
        const isSame = there?.values[0] === value && there.ttl === row.ttl && there.line === line;
        if (isSame || others.some((one) => one.type === type && one.values[0] === value))
          return errorResponse(400, 'DomainRecordDuplicate', 'The DNS record already exists.');
        if (others.some((one) => (one.type === 'CNAME') !== (type === 'CNAME') || type === 'CNAME'))
          return errorResponse(400, 'DomainRecordConflict', 'The DNS record conflicts with another.');
        if (action === 'AddDomainRecord') {
          const usual = weighted.has(setOf(row)) ? { weight: 1 } : {};
          return json(200, { RecordId: records.add({ ...row, ...usual }).id });
        }
        if (!there) return errorResponse(400, 'DomainRecordNotBelongToUser', 'The record does not belong to you.');
        Object.assign(there, row);
        return json(200, { RecordId: there.id });
      }
      case 'SetDNSSLBStatus': {
        const [type, line, sub] = [asked('Type') ?? 'A', asked('Line') ?? 'default', asked('SubDomain') ?? ''];
        if (sub === zone || sub.startsWith('*.')) return errorResponse(400, 'InvalidParameter', 'SubDomain');
        const name = sub.replace(/^@\./, '');
        const rows = records.rows.filter((row) => setOf(row) === setOf({ name, type, line }));
        const isOpen = asked('Open') !== 'false';
        if (isOpen) weighted.add(setOf({ name, type, line }));
        else weighted.delete(setOf({ name, type, line }));
        for (const row of rows) row.weight ??= 1;
        return json(200, { RecordCount: rows.length, Open: isOpen });
      }
      case 'UpdateDNSSLBWeight': {
        const weight = Number(asked('Weight'));
        if (!there) return errorResponse(400, 'DomainRecordNotBelongToUser', 'The record does not belong to you.');
        if (!weighted.has(setOf(there))) return errorResponse(400, 'DisableDNSSLB', 'The DNS SLB status is closed.');
        if (!(weight >= 1 && weight <= 100)) return errorResponse(400, 'InvalidWeigth', 'The weigth value is invalid.');
        there.weight = weight;
        return json(200, { RecordId: there.id, Weight: weight });
      }
      case 'DeleteDomainRecord':
        return records.drop(asked('RecordId') ?? '')
          ? json(200, {})
          : errorResponse(400, 'DomainRecordNotBelongToUser', 'The record does not belong to you.');
      default:
        return errorResponse(404, 'InvalidAction.NotFound', 'Specified api is not found.');
    }
  };
  const checkSignature = (asked: VendorRequest) => {
    const { headers } = asked;
    const nonce = String(headers['x-acs-signature-nonce']);
    if (readAuthorization(headers.authorization).part('Credential') !== key.keyID)
      return errorResponse(404, 'InvalidAccessKeyId.NotFound', 'Specified access key is not found.');
    if (nonces.has(nonce))
      return errorResponse(400, 'SignatureNonceUsed', 'Specified signature nonce was used already.');
    nonces.add(nonce);
    if (!isFresh(Date.parse(String(headers['x-acs-date'])), 15))
      return errorResponse(400, 'InvalidTimeStamp.Expired', 'expired');
    return isSignedByAlibaba(asked, key.keySecret) && headers['x-acs-version'] === '2015-01-09'
      ? null
      : errorResponse(400, 'SignatureDoesNotMatch', 'Specified signature does not match our calculation.');
  };
  const rateLimited = errorResponse(400, 'Throttling.User', 'Request was denied due to user flow control.');
  return { ...(await startFakeVendor({ checkSignature, rateLimited, respond })), zone, key, records };
}
