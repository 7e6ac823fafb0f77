// Queries an OCSP responder whose address comes from a certificate: only permitted addresses, limited time and size.
import { request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Resolve } from '../origins/addresses.ts';
import { requestOf, type OcspRequest } from './request.ts';

const WITHIN_MS = 10_000;
/** Usual responses have one or two kilobytes. */
const BYTES_AT_MOST = 20_000;

export interface Means {
  resolve: Resolve;
  authorities: string | null;
}

export async function ask(question: OcspRequest, { resolve, authorities }: Means): Promise<Buffer<ArrayBuffer>> {
  const { responder } = question;
  const signal = AbortSignal.timeout(WITHIN_MS);
  let fault: unknown = new Error('the responder has no address');
  for (const address of await resolve(responder.hostname.replace(/^\[(.+)\]$/, '$1'))) {
    try {
      return await post(responder, address, requestOf(question), { authorities, signal });
    } catch (error) {
      fault = error;
      if (signal.aborted) break;
    }
  }
  throw signal.aborted ? new Error(`no answer within ${WITHIN_MS / 1000} s`) : fault;
}

function post(
  { protocol, hostname, host, port, pathname, search }: URL,
  address: string,
  body: Buffer,
  { authorities, signal }: Pick<Means, 'authorities'> & { signal: AbortSignal },
): Promise<Buffer<ArrayBuffer>> {
  const isSecure = protocol === 'https:';
  const options = {
    host: address,
    port: port === '' ? (isSecure ? 443 : 80) : Number(port),
    path: pathname + search,
    method: 'POST',
    headers: {
      host,
      'content-type': 'application/ocsp-request',
      'content-length': body.length,
      'user-agent': 'Edgeloom-OCSP',
    },
    agent: false,
    signal,
  };
  return new Promise((resolve, reject) => {
    const answered = (answer: IncomingMessage) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      answer.on('error', reject);
      // Redirects are not followed.
      if (answer.statusCode !== 200) answer.destroy(new Error(`the responder answered ${answer.statusCode}`));
      answer.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > BYTES_AT_MOST) answer.destroy(new Error(`the answer is longer than ${BYTES_AT_MOST} bytes`));
      });
      answer.on('end', () => resolve(Buffer.concat(chunks)));
    };
    const call = isSecure
      ? httpsRequest({ ...options, servername: hostname, ca: authorities ?? [] }, answered)
      : httpRequest(options, answered);
    call.on('error', reject);
    call.end(body);
  });
}
