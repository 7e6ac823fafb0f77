// TC3-HMAC-SHA256 request signatures of Tencent Cloud ("Signature v3").
import { createHmac, hash } from 'node:crypto';
import type { KeyPair } from '@edgeloom/contract/dns-account/dns-account.ts';

const ALGORITHM = 'TC3-HMAC-SHA256';

export interface TencentCall {
  service: string;
  host: string;
  action: string;
  version: string;
  body: string;
  at: Date;
}

/** The headers of a call, signed. */
export function tencentHeaders(
  { service, host, action, version, body, at }: TencentCall,
  { keyID, keySecret }: KeyPair,
) {
  const seconds = String(Math.floor(at.getTime() / 1000));
  const day = at.toISOString().slice(0, 10);
  const signed = { 'content-type': 'application/json; charset=utf-8', host, 'x-tc-action': action.toLowerCase() };
  const names = Object.keys(signed).join(';');
  const lines = Object.entries(signed).map(([name, value]) => `${name}:${value}\n`);
  const request = ['POST', '/', '', lines.join(''), names, hash('sha256', body)].join('\n');
  const scope = `${day}/${service}/tc3_request`;
  const key = [day, service, 'tc3_request'].reduce(
    (secret: string | Buffer, part) => createHmac('sha256', secret).update(part).digest(),
    `TC3${keySecret}`,
  );
  const signature = createHmac('sha256', key)
    .update([ALGORITHM, seconds, scope, hash('sha256', request)].join('\n'))
    .digest('hex');
  return {
    ...signed,
    'x-tc-action': action,
    'x-tc-version': version,
    'x-tc-timestamp': seconds,
    authorization: `${ALGORITHM} Credential=${keyID}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  };
}
