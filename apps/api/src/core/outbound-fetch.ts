// fetch for addresses from tenants. Applies the outbound policy to resolved addresses, connects to exactly the checked
// address, follows no redirects and limits the response.
import { lookup as resolve } from 'node:dns';
import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { ErrorMessage } from '@edgeloom/contract/messages.ts';

import { isNamed, originFault, type OriginSettings } from './outbound.ts';

const TIMEOUT_MS = 10_000;
const SILENT = 'no answer within 10 seconds';
const BYTES_AT_MOST = 1_000_000;

interface FetchOptions {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** Only the status and headers are returned, as soon as they arrive. */
  isBodyDiscarded?: boolean;
  /** Ends the request early. */
  stopping?: AbortSignal;
}

/** The policy's message, for the tenant. */
export class OutboundRefusal extends Error {}
export class ResponseTooLargeError extends OutboundRefusal {}

/** Without TLS only to addresses that the installation's settings name. */
export const faultOf = (address: string, isEncrypted: boolean, settings: OriginSettings): ErrorMessage | null =>
  originFault(address, settings) ??
  (!isEncrypted && !isNamed(address, settings) ? 'this address is asked over TLS only' : null);

/** Why a host is refused where a tenant enters it. Names are checked when they are resolved. */
export function hostFault(host: string, isEncrypted: boolean, settings: OriginSettings): ErrorMessage | null {
  const literal = host.replace(/^\[|\]$/g, '');
  return isIP(literal) > 0 || /(^|\.)localhost$/.test(literal) ? faultOf(literal, isEncrypted, settings) : null;
}

export const guardedLookup =
  (isEncrypted: boolean, settings: OriginSettings): LookupFunction =>
  (name, options, done) => {
    resolve(name, { ...options, all: true }, (error, found) => {
      // One message for both cases, so that it does not reveal which internal names exist.
      const isRefused = error !== null || found.some(({ address }) => faultOf(address, isEncrypted, settings) !== null);
      if (isRefused) return done(new OutboundRefusal(`${name} has no permitted address`), []);
      const [first] = found;
      if (options.all || !first) return done(null, found);
      done(null, first.address, first.family);
    });
  };

export const outboundFetch =
  (settings: OriginSettings, bytesAtMost = BYTES_AT_MOST) =>
  (
    address: string,
    { method = 'GET', headers = {}, body, isBodyDiscarded = false, stopping }: FetchOptions = {},
  ): Promise<Response> =>
    new Promise((done, refuse) => {
      const url = new URL(address);
      const isEncrypted = url.protocol === 'https:';
      const lookup = guardedLookup(isEncrypted, settings);
      const host = url.hostname.replace(/^\[|\]$/g, '');
      // Literal addresses skip the lookup, so they are checked here.
      const fault = isIP(host) ? faultOf(host, isEncrypted, settings) : null;
      if (fault) return refuse(new OutboundRefusal(fault));
      const begin = isEncrypted ? tlsRequest : plainRequest;
      const timeout = AbortSignal.timeout(TIMEOUT_MS);
      const signal = stopping ? AbortSignal.any([timeout, stopping]) : timeout;
      const broken = (error: Error) => refuse(timeout.aborted ? new Error(SILENT, { cause: error }) : error);
      const asked = begin(url, { method, headers, lookup, signal, agent: false }, (answer) => {
        const chunks: Buffer[] = [];
        let size = 0;
        const finish = () => {
          const status = answer.statusCode ?? 502;
          const fields = Object.entries(answer.headersDistinct).flatMap(([name, values = []]) =>
            values.map((value): [string, string] => [name, value]),
          );
          const response = responseOf(status, fields, Buffer.concat(chunks));
          if (response === null) refuse(new Error(`the answer is not understood (status ${status})`));
          else done(response);
        };
        answer.on('error', broken);
        if (isBodyDiscarded) {
          finish();
          asked.destroy();
          return;
        }
        answer.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (size > bytesAtMost) return void asked.destroy(new ResponseTooLargeError('the answer is too large'));
          chunks.push(chunk);
        });
        answer.on('end', finish);
      });
      asked.on('error', broken);
      asked.end(body);
    });

/** Null: fetch's Response cannot represent every response, and its exception would end the process. */
function responseOf(status: number, headers: [string, string][], body: Buffer<ArrayBuffer>): Response | null {
  try {
    return new Response(status === 204 || status === 304 ? null : body, { status, headers });
  } catch {
    return null;
  }
}
