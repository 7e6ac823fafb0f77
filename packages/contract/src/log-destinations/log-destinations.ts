import * as z from 'zod';
import { Id, Port, Text, Time } from '../common/common.ts';
import { HttpUrl } from '../common/http-url.ts';
import { DomainNameInput } from '../common/net.ts';
import { secret } from '../common/secret.ts';

/** Limit per site. */
export const LOG_DESTINATIONS = 4;

export const LogDestinationKind = z.enum(['s3', 'http', 'syslog']);
export type LogDestinationKind = z.output<typeof LogDestinationKind>;

const Secret = secret(z.string().regex(/^[\x21-\x7e]{1,512}$/, 'at most 512 printable characters without spaces'));
const OptionalSecret = secret(
  z.string().regex(/^[\x21-\x7e]{0,512}$/, 'at most 512 printable characters without spaces'),
);
/** Stands for what is not shown: values of a query, and a password. */
export const MASKED = '***';
const Host = z.union([DomainNameInput.refine((name) => !name.startsWith('*.')), z.ipv4(), z.ipv6()], {
  error: 'a host name or an address',
});
/** Set by the connection itself. */
const reserved = /^(?:host|connection|transfer-encoding|te|trailer|upgrade|expect|content-.*|proxy-.*|keep-alive)$/i;
const HeaderName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/, 'a header name')
  .refine((name) => !reserved.test(name), 'this header is set by the connection');

export const s3Settings = {
  endpoint: HttpUrl.refine((url) => !/[?#]/.test(url), 'without a query').describe(
    'Without the bucket, such as https://s3.eu-central-1.amazonaws.com',
  ),
  region: z.string().regex(/^[a-z0-9-]{1,64}$/, 'a region such as us-east-1'),
  bucket: z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'a bucket name'),
  prefix: z
    .string()
    .max(200)
    .regex(/^(?:[A-Za-z0-9_=-][A-Za-z0-9_.=-]*\/)*$/, 'folders that end with /')
    .default(''),
  accessKeyID: z.string().regex(/^[\x21-\x7e]{1,128}$/, 'at most 128 printable characters without spaces'),
};
export const httpSettings = {
  url: HttpUrl.describe('Values of its query are shown as ***, and stay if they are sent so'),
  headerName: HeaderName.nullable().default(null).describe('Has the secret. Null: Authorization: Bearer'),
};
export const syslogSettings = {
  host: Host,
  port: Port.default(6514),
  tls: z.boolean().default(true),
  ca: z.string().max(20_000).default('').describe('Certificates in PEM that sign the server’s. Empty: the usual ones'),
};
/** Fields of the forms of each kind. */
export const newLogDestination = {
  s3: z.object({ name: Text, ...s3Settings, secret: Secret }),
  http: z.object({ name: Text, ...httpSettings, secret: OptionalSecret.optional() }),
  syslog: z.object({ name: Text, ...syslogSettings }),
};
export const changedLogDestination = {
  ...newLogDestination,
  s3: newLogDestination.s3.extend({ secret: OptionalSecret.optional() }),
};
const enabled = z.boolean().default(true);

export const LogDestinationInput = z.discriminatedUnion('kind', [
  newLogDestination.s3.extend({ kind: z.literal('s3'), enabled }),
  newLogDestination.http.extend({ kind: z.literal('http'), enabled }),
  newLogDestination.syslog.extend({ kind: z.literal('syslog'), enabled }),
]);
export type LogDestinationInput = z.output<typeof LogDestinationInput>;

/** Without a secret the present one stays, as long as it goes to the same place. */
export const LogDestinationUpdate = z.discriminatedUnion('kind', [
  changedLogDestination.s3.extend({ id: Id, kind: z.literal('s3'), enabled }),
  changedLogDestination.http.extend({ id: Id, kind: z.literal('http'), enabled }),
  changedLogDestination.syslog.extend({ id: Id, kind: z.literal('syslog'), enabled }),
]);
export type LogDestinationUpdate = z.output<typeof LogDestinationUpdate>;

export const LogDestination = z.object({
  id: Id,
  name: z.string(),
  kind: LogDestinationKind,
  enabled: z.boolean(),
  target: z.string().describe('Where it delivers to, in one line'),
  settings: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  hasSecret: z.boolean(),
  sentLines: z.int(),
  droppedLines: z.int().describe('Expired before they could be delivered'),
  waitingLines: z.int(),
  delaySeconds: z.int().describe('Age of the oldest batch that waits; 0: none waits'),
  succeededAt: Time.nullable(),
  failingSince: Time.nullable(),
  lastError: z
    .string()
    .describe('`status 503`, `timeout`, `connection`, `certificate`, `policy`, `secret`; empty: none'),
  createdAt: Time,
  updatedAt: Time,
});
export type LogDestination = z.output<typeof LogDestination>;

export const LogDestinationTest = z.object({ error: z.string().describe('As lastError; empty: delivered') });
