// Delivers batches of lines to a destination of any kind.
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import {
  httpSettings,
  s3Settings,
  syslogSettings,
  type LogDestinationKind,
} from '@edgeloom/contract/log-destinations/log-destinations.ts';
import * as z from 'zod';
import type { Env } from '../core/env.ts';
import { OutboundRefusal, outboundFetch } from '../core/outbound-fetch.ts';
import { signedHeaders } from './sigv4.ts';
import { sendSyslog, syslogMessage } from './syslog.ts';

const decompress = promisify(gunzip);
const compress = promisify(gzip);

type Settings = Pick<Env, 'ORIGIN_ALLOW' | 'ORIGIN_DENY'>;

interface Destination {
  siteId: string;
  kind: LogDestinationKind;
  settings: unknown;
  /** Empty: it has none. */
  secret: string;
}

export interface Batches {
  /** The first and the last number. */
  from: string;
  to: string;
  storedAt: Date;
  /** Gzip members of NDJSON. */
  data: readonly Uint8Array[];
}

/** The server's response is an error. Its body is not kept: it is another server's text. */
class StatusError extends Error {
  readonly status: number;
  constructor(status: number) {
    super(`status ${status}`);
    this.status = status;
  }
}

type Deliver = (
  settings: Settings,
  destination: Destination,
  batches: Batches,
  now: Date,
  stopping: AbortSignal,
) => Promise<void>;

export const deliver: Deliver = (settings, destination, batches, now, stopping) =>
  kinds[destination.kind](settings, destination, batches, now, stopping);

const [S3, Http, Syslog] = [z.object(s3Settings), z.object(httpSettings), z.object(syslogSettings)];

const kinds: Readonly<Record<LogDestinationKind, Deliver>> = {
  /** The name has the first number only: a repetition after a crash overwrites the object. */
  s3: async (settings, { siteId, settings: own, secret }, { from, storedAt, data }, now, stopping) => {
    const { endpoint, bucket, prefix, region, accessKeyID } = S3.parse(own);
    const day = storedAt.toISOString().slice(0, 10).replaceAll('-', '/');
    const name = `${prefix}${day}/${siteId}-${from.padStart(12, '0')}.ndjson.gz`;
    const url = new URL(`${endpoint.replace(/\/+$/, '')}/${bucket}/${encodePath(name)}`);
    // The members one after another are a gzip file.
    const body = Buffer.concat(data);
    const headers = signedHeaders(url, body, { region, accessKeyID, secret }, now, {
      'content-type': 'application/gzip',
    });
    await send(settings, url.href, 'PUT', headers, body, stopping);
  },

  /** One gzip member, since not every server reads several. */
  http: async (settings, { settings: own, secret }, { from, to, data }, _now, stopping) => {
    const { url, headerName } = Http.parse(own);
    const headers = {
      'content-type': 'application/x-ndjson',
      'content-encoding': 'gzip',
      'user-agent': 'Edgeloom',
      'x-edgeloom-batch': `${from}-${to}`,
      ...(secret !== '' && (headerName === null ? { authorization: `Bearer ${secret}` } : { [headerName]: secret })),
    };
    await send(settings, url, 'POST', headers, await compress(await decompress(Buffer.concat(data))), stopping);
  },

  syslog: async (settings, { settings: own }, { data }, _now, stopping) => {
    const text = (await decompress(Buffer.concat(data))).toString();
    const messages = text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const { time, nodeID } = Head.parse(JSON.parse(line));
        return syslogMessage(line, time, nodeID);
      });
    await sendSyslog(settings, Syslog.parse(own), Buffer.concat(messages), stopping);
  },
};

const Head = z.object({ time: z.string(), nodeID: z.string() });

async function send(
  settings: Settings,
  url: string,
  method: string,
  headers: Record<string, string>,
  body: Uint8Array,
  stopping: AbortSignal,
) {
  const sized = { ...headers, 'content-length': String(body.length) };
  const { status } = await outboundFetch(settings)(url, { method, headers: sized, body, stopping });
  if (status < 200 || status > 299) throw new StatusError(status);
}

/** As SigV4 encodes paths. */
const encodePath = (path: string) =>
  path
    .split('/')
    .map((part) =>
      encodeURIComponent(part).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`),
    )
    .join('/');

/** The stored secret does not open, for example after a restore with another master key. */
export class SecretError extends Error {}

/** The error that the tenant reads: no text of other servers, and nothing about names inside. */
export function errorCode(error: unknown): string {
  if (error instanceof StatusError) return error.message;
  if (error instanceof OutboundRefusal) return 'policy';
  if (error instanceof SecretError) return 'secret';
  const [code, message] = error instanceof Error ? [String(Reflect.get(error, 'code') ?? ''), error.message] : ['', ''];
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/.test(code)) return 'certificate';
  return /timeout|within|ETIMEDOUT/.test(`${code} ${message}`) ? 'timeout' : 'connection';
}

/** One line that is marked as a test. */
export const testBatches = async (siteID: string, now: Date): Promise<Batches> => ({
  from: 'test',
  to: 'test',
  storedAt: now,
  data: [await compress(`${JSON.stringify({ time: now.toISOString(), siteID, nodeID: '-', test: true })}\n`)],
});
