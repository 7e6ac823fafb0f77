// AWS Signature Version 4 of one PUT, and nothing else of the SDK, whose client for S3 is some hundred files, resolves
// and opens its own connections, and so could not follow the outbound policy.
import { createHash, createHmac } from 'node:crypto';

interface S3Keys {
  region: string;
  accessKeyID: string;
  secret: string;
}

const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Uint8Array, text: string) => createHmac('sha256', key).update(text).digest();

/** The headers of a request, with its signature. The path of the URL must be encoded. */
export function signedHeaders(
  url: URL,
  body: Uint8Array,
  { region, accessKeyID, secret }: S3Keys,
  now: Date,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const time = now.toISOString().replace(/[-:]|\.\d+/g, '');
  const day = time.slice(0, 8);
  const hash = sha256(body);
  const headers: Record<string, string> = { ...more, host: url.host, 'x-amz-content-sha256': hash, 'x-amz-date': time };
  const names = Object.keys(headers).toSorted();
  const canonical = [
    'PUT',
    url.pathname,
    '',
    ...names.map((name) => `${name}:${headers[name]?.trim()}`),
    '',
    names.join(';'),
    hash,
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const key = [region, 's3', 'aws4_request'].reduce<Uint8Array>(hmac, hmac(`AWS4${secret}`, day));
  const signature = hmac(key, ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')).toString('hex');
  return {
    ...headers,
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyID}/${scope},SignedHeaders=${names.join(';')},Signature=${signature}`,
  };
}
