// SDK-HMAC-SHA256, by which Huawei Cloud knows who calls ("AK/SK signing" of its documentation).
import { createHmac, hash } from 'node:crypto';
import type { KeyPair } from '@edgeloom/contract/dns-account/dns-account.ts';
import { encoded } from './rfc3986.ts';

const ALGORITHM = 'SDK-HMAC-SHA256';

export interface HuaweiCall {
  method: string;
  url: URL;
  body: string;
  at: Date;
}

/** What the call is sent with, its signature among it. */
export function huaweiHeaders({ method, url, body, at }: HuaweiCall, { keyID, keySecret }: KeyPair) {
  const date = at.toISOString().replace(/\.\d+|[-:]/g, '');
  const signed = { 'content-type': 'application/json', host: url.host, 'x-sdk-date': date };
  const names = Object.keys(signed).join(';');
  const lines = Object.entries(signed).map(([name, value]) => `${name}:${value}\n`);
  // The path is signed with a slash at its end, whether it is asked with one or not.
  const path = url.pathname.replace(/\/?$/, '/');
  const query = [...url.searchParams]
    .map(([name, value]) => [encoded(name), encoded(value)])
    .toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1))
    .map((pair) => pair.join('='))
    .join('&');
  const request = [method, path, query, lines.join(''), names, hash('sha256', body)].join('\n');
  const signature = createHmac('sha256', keySecret)
    .update(`${ALGORITHM}\n${date}\n${hash('sha256', request)}`)
    .digest('hex');
  return { ...signed, authorization: `${ALGORITHM} Access=${keyID}, SignedHeaders=${names}, Signature=${signature}` };
}
