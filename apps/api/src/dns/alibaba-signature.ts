// ACS3-HMAC-SHA256 request signatures of Alibaba Cloud ("Request syntax and signature method V3").
import { createHmac, hash } from 'node:crypto';
import type { KeyPair } from '@edgeloom/contract/dns-account/dns-account.ts';
import { percentEncode } from './rfc3986.ts';

const ALGORITHM = 'ACS3-HMAC-SHA256';

export interface AlibabaCall {
  host: string;
  action: string;
  version: string;
  params: Record<string, string>;
  /** Unique per request. */
  nonce: string;
  at: Date;
}

/** The URL and headers of a call, signed. */
export function alibabaCall({ host, action, version, params, nonce, at }: AlibabaCall, { keyID, keySecret }: KeyPair) {
  const query = Object.entries(params)
    .map(([name, value]) => [percentEncode(name), percentEncode(value)])
    .toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1))
    .map((pair) => pair.join('='))
    .join('&');
  const signed = {
    host,
    'x-acs-action': action,
    'x-acs-content-sha256': hash('sha256', ''),
    'x-acs-date': at.toISOString().replace(/\.\d+/, ''),
    'x-acs-signature-nonce': nonce,
    'x-acs-version': version,
  };
  const names = Object.keys(signed).join(';');
  const lines = Object.entries(signed).map(([name, value]) => `${name}:${value}\n`);
  const request = ['POST', '/', query, lines.join(''), names, hash('sha256', '')].join('\n');
  const signature = createHmac('sha256', keySecret)
    .update(`${ALGORITHM}\n${hash('sha256', request)}`)
    .digest('hex');
  return {
    query,
    headers: {
      ...signed,
      authorization: `${ALGORITHM} Credential=${keyID},SignedHeaders=${names},Signature=${signature}`,
    },
  };
}
