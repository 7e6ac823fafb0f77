// SDK-HMAC-SHA256 request signatures of Huawei Cloud ("AK/SK signing").
import { createHmac, hash } from 'node:crypto';
import type { KeyPair } from '@edgeloom/contract/dns-account/dns-account.ts';
import { percentEncode } from './rfc3986.ts';

const ALGORITHM = 'SDK-HMAC-SHA256';

export interface HuaweiCall {
  method: string;
  url: URL;
  body: string;
  at: Date;
}

/** The headers of a call, signed. */
export function huaweiHeaders({ method, url, body, at }: HuaweiCall, { keyID, keySecret }: KeyPair) {
  const date = at.toISOString().replace(/\.\d+|[-:]/g, '');
  const signed = { 'content-type': 'application/json', host: url.host, 'x-sdk-date': date };
  const names = Object.keys(signed).join(';');
  const lines = Object.entries(signed).map(([name, value]) => `${name}:${value}\n`);
  // The signed path always ends with a slash.
  const path = url.pathname.replace(/\/?$/, '/');
  const query = [...url.searchParams]
    .map(([name, value]) => [percentEncode(name), percentEncode(value)])
    .toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1))
    .map((pair) => pair.join('='))
    .join('&');
  const request = [method, path, query, lines.join(''), names, hash('sha256', body)].join('\n');
  const signature = createHmac('sha256', keySecret)
    .update(`${ALGORITHM}\n${date}\n${hash('sha256', request)}`)
    .digest('hex');
  return { ...signed, authorization: `${ALGORITHM} Access=${keyID}, SignedHeaders=${names}, Signature=${signature}` };
}
