// Fake Tencent DNSPod: API 3.0, version 2021-03-23, TC3-HMAC-SHA256.
import {
  sha256,
  hmac,
  headerLines,
  isFresh,
  json,
  readAuthorization,
  Records,
  startFakeVendor,
  type VendorResponse,
  type VendorRequest,
  type FakeVendor,
} from './fake-vendor.ts';

/** Verifies the request signature. */
export function isSignedByTencent({ method, url, headers, body }: VendorRequest, secretKey: string): boolean {
  const { algorithm, part } = readAuthorization(headers.authorization);
  const [, date = '', service = '', end = ''] = part('Credential').split('/');
  const names = part('SignedHeaders').split(';');
  if (algorithm !== 'TC3-HMAC-SHA256' || end !== 'tc3_request') return false;
  if (!['content-type', 'host'].every((name) => names.includes(name))) return false;
  // The action is signed in lower case.
  const lines = headerLines({ ...headers, 'x-tc-action': String(headers['x-tc-action']).toLowerCase() }, names);
  const canonical = `${method}\n${url.pathname}\n${url.search.slice(1)}\n${lines}\n${part('SignedHeaders')}\n${sha256(body)}`;
  const toSign = `TC3-HMAC-SHA256\n${String(headers['x-tc-timestamp'])}\n${date}/${service}/tc3_request\n${sha256(canonical)}`;
  const secretDate = hmac(`TC3${secretKey}`, date);
  const secretSigning = hmac(hmac(secretDate, service), 'tc3_request');
  return hmac(secretSigning, toSign).toString('hex') === part('Signature');
}

const lines = [
  { Name: '默认', LineId: '0' },
  { Name: '境内', LineId: '7=0' },
  { Name: '境外', LineId: '3=0' },
  { Name: '电信', LineId: '10=0' },
];
const reply = (content: object): VendorResponse => json(200, { Response: { ...content, RequestId: 'r' } });
const errorResponse = (Code: string, Message: string) => reply({ Error: { Code, Message } });

export async function startDnspod(zone: string, { smallPlan = false } = {}): Promise<FakeVendor> {
  const key = { keyID: 'AKIDz8krbsJ5yKBZQpn74WFkmLPx3000', keySecret: 'Gu5t9xGARNpq86cd98joQYCN3000' };
  const records = new Records();
  const grade = smallPlan ? 'DP_FREE' : 'DP_ULTRA';
  const inFull = (within: string) => (within === '@' ? zone : `${within}.${zone}`);

  const respond = ({ headers, body }: VendorRequest): VendorResponse => {
    const asked = JSON.parse(body);
    if (asked.Domain !== zone) return errorResponse('InvalidParameterValue.DomainNotExists', '域名不存在。');
    const action = String(headers['x-tc-action']);
    switch (action) {
      case 'DescribeDomain':
        return reply({ DomainInfo: { Domain: zone, Grade: grade, TTL: 600 } });
      case 'DescribeRecordLineList':
        if (asked.DomainGrade !== grade) return errorResponse('InvalidParameter.DomainGrade', 'grade');
        return reply({ LineList: lines, LineGroupList: [] });
      case 'DescribeRecordList': {
        const found = records.rows.filter(
          ({ name, type, line }) =>
            name === (asked.Subdomain === undefined ? name : inFull(asked.Subdomain)) &&
            type === (asked.RecordType ?? type) &&
            line === (asked.RecordLineId ?? line),
        );
        if (found.length === 0 && asked.ErrorOnEmpty !== 'no')
          return errorResponse('ResourceNotFound.NoDataOfRecord', '记录列表为空。');
        if ((asked.Limit ?? 100) > 3000) return errorResponse('InvalidParameter.LimitInvalid', 'limit');
        const offset = asked.Offset ?? 0;
        const page = found.slice(offset, offset + (asked.Limit ?? 100));
        return reply({
          RecordCountInfo: { SubdomainCount: found.length, ListCount: page.length, TotalCount: found.length },
          RecordList: page.map(({ id, name, type, line, values, ttl, weight }) => ({
            RecordId: Number(id),
            Name: name === zone ? '@' : name.slice(0, -zone.length - 1),
            Type: type,
            Value: values[0],
            Line: lines.find(({ LineId }) => LineId === line)?.Name,
            LineId: line,
            TTL: ttl,
            Status: 'ENABLE',
            Weight: weight ?? null,
          })),
        });
      }
      case 'CreateRecord':
      case 'ModifyRecord': {
        const line = String(asked.RecordLineId);
        const row = {
          name: inFull(asked.SubDomain ?? '@'),
          type: asked.RecordType,
          line,
          values: [asked.Value],
          ttl: asked.TTL,
          // An omitted field keeps its value.
          ...(asked.Weight !== undefined && { weight: asked.Weight === 0 ? undefined : asked.Weight }),
        };
        if (!lines.some(({ LineId }) => LineId === line))
          return errorResponse('InvalidParameter.RecordLineInvalid', '记录线路不正确。');
        if (smallPlan && asked.TTL < 600)
          return errorResponse('LimitExceeded.RecordTtlLimit', '记录的TTL值超出了限制。');
        const { Weight: weight = 0 } = asked;
        if (!(weight >= 0 && weight <= 100) || (smallPlan && weight > 0))
          return errorResponse('InvalidParameter.InvalidWeight', '权重不合法。请输入0~100的整数。');
        const others = records.rows.filter(
          (one) => one.id !== String(asked.RecordId) && one.name === row.name && one.line === line,
        );
        if (others.some(({ type }) => (type === 'CNAME') !== (row.type === 'CNAME') || type === 'CNAME'))
          return errorResponse('InvalidParameter.SubdomainInvalid', '子域名冲突。');
        if (others.some(({ type, values }) => type === row.type && values[0] === asked.Value))
          return errorResponse('InvalidParameter.DomainRecordExist', '记录已经存在，无需再次添加。');
        const isFull = others.filter(({ type }) => type === row.type).length >= 2;
        if (smallPlan && action === 'CreateRecord' && isFull)
          return errorResponse('LimitExceeded.SubdomainRollLimit', '子域名的负载均衡数量超出限制。');
        if (action === 'CreateRecord') return reply({ RecordId: Number(records.add(row).id) });
        const there = records.rows.find(({ id }) => id === String(asked.RecordId));
        if (!there) return errorResponse('InvalidParameter.RecordIdInvalid', '记录编号错误。');
        Object.assign(there, row);
        return reply({ RecordId: asked.RecordId });
      }
      case 'DeleteRecord':
        return records.drop(String(asked.RecordId))
          ? reply({})
          : errorResponse('InvalidParameter.RecordIdInvalid', '记录编号错误。');
      default:
        return errorResponse('InvalidAction', 'The action does not exist.');
    }
  };
  const checkSignature = (asked: VendorRequest) => {
    const id = readAuthorization(asked.headers.authorization).part('Credential').split('/')[0];
    if (id !== key.keyID) return errorResponse('AuthFailure.SecretIdNotFound', 'The SecretId is not found.');
    if (!isFresh(Number(asked.headers['x-tc-timestamp']) * 1000, 5))
      return errorResponse('AuthFailure.SignatureExpire', 'expired');
    return isSignedByTencent(asked, key.keySecret) && asked.headers['x-tc-version'] === '2021-03-23'
      ? null
      : errorResponse('AuthFailure.SignatureFailure', 'The provided credentials could not be validated.');
  };
  const rateLimited = errorResponse('RequestLimitExceeded', 'Your current request times equals to `21` in a second.');
  return { ...(await startFakeVendor({ checkSignature, rateLimited, respond })), zone, key, records };
}
