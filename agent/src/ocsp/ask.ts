// Queries an OCSP responder whose address comes from a certificate: only permitted addresses, limited time and size.
import { request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Resolve } from '../origins/addresses.ts';
import { requestOf, type OcspRequest } from './request.ts';

const TIMEOUT_MS = 10_000;
/** Usual responses have one or two kilobytes. */
const MAX_BYTES = 20_000;

export interface OcspDeps {
  resolve: Resolve;
  authorities: string | null;
}

export async function queryOcsp(
  request: OcspRequest,
  { resolve, authorities }: OcspDeps,
): Promise<Buffer<ArrayBuffer>> {
  const { responder } = request;
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  let fault: unknown = new Error('the responder has no address');
  for (const address of await resolve(responder.hostname.replace(/^\[(.+)\]$/, '$1'))) {
    try {
      return await post(responder, address, requestOf(request), { authorities, signal });
    } catch (error) {
      fault = error;
      if (signal.aborted) break;
    }
  }
  throw signal.aborted ? new Error(`no response within ${TIMEOUT_MS / 1000} s`) : fault;
}

function post(
  { protocol, hostname, host, port, pathname, search }: URL,
  address: string,
  body: Buffer,
  { authorities, signal }: Pick<OcspDeps, 'authorities'> & { signal: AbortSignal },
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
    const answered = (response: IncomingMessage) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('error', reject);
      // Redirects are not followed.
      if (response.statusCode !== 200) response.destroy(new Error(`the responder returned ${response.statusCode}`));
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > MAX_BYTES) response.destroy(new Error(`the response is longer than ${MAX_BYTES} bytes`));
      });
      response.on('end', () => resolve(Buffer.concat(chunks)));
    };
    const call = isSecure
      ? httpsRequest({ ...options, servername: hostname, ca: authorities ?? [] }, answered)
      : httpRequest(options, answered);
    call.on('error', reject);
    call.end(body);
  });
}
