// Requests that must carry a token: a time with a signature by a secret key. Keys are write-only.
import * as z from 'zod';
import { Id, Time } from '../common/common.ts';
import { checkPaths, PathType, PathValues, storedPaths } from '../common/paths.ts';
import { RedirectTarget } from '../common/redirect-target.ts';
import { secret } from '../common/secret.ts';
import type { ErrorMessage } from '../messages.ts';
import { FieldName, moduleFields, ModuleName } from './modules.ts';
import { recipeFaults } from './token-recipe.ts';

export const TokenPlace = z.enum(['query', 'path', 'header', 'cookie']);
export const TokenAlgorithm = z.enum([
  'md5',
  'sha1',
  'sha256',
  'sha512',
  'hmacMd5',
  'hmacSha1',
  'hmacSha256',
  'hmacSha512',
]);
export const TokenEncoding = z
  .enum(['hex', 'lowerHex', 'upperHex', 'base64', 'base64url'])
  .describe('hex takes both cases; = at the end of base64 may be left out');
export const TimeFormat = z
  .enum(['seconds', 'milliseconds', 'hex', 'minutes'])
  .describe('Since 1970: ten digits, thirteen, or eight hexadecimal ones; or YYYYMMDDHHMM');
export const TimeMeans = z.enum(['signed', 'expires']);

/** 6 to 128 characters that never need escaping. */
export const TokenKey = z.string().regex(/^[\x21-\x7e]{6,128}$/, { message: 'wrong format' });
export const KeyInput = z.union([
  z.object({ key: secret(TokenKey.describe('A new one; it is never shown again')) }),
  z.object({ id: Id.describe('One that the site has') }),
]);
const StoredKey = z.object({ id: Id, createdAt: z.iso.datetime() });
const Loose = z.string().regex(/^[A-Za-z0-9_]{1,100}$/, { message: 'wrong format' });

const Except = z
  .object({ type: PathType.exclude(['all']), value: PathValues })
  .superRefine(checkPaths)
  .overwrite(storedPaths);
const TokenPart = z.object({ name: z.string().trim().max(64).default(''), format: z.string().min(1).max(256) });
const fields = {
  name: z.string().trim().max(64).default(''),
  enabled: z.boolean().default(true),
  type: PathType.default('all'),
  value: PathValues.default([]),
  except: Except.nullable().default(null).describe('Paths that need no token all the same'),
  place: TokenPlace.default('query'),
  parts: z
    .array(TokenPart)
    .min(1)
    .max(4)
    .describe(
      'Query parameters, fields or cookies and what each holds: {time}, {sign}, {rand}, {user} and text; of a path one without a name, which stands before it',
    ),
  text: z
    .string()
    .min(1)
    .max(512)
    .describe(
      'What is signed: {path} as it is asked, {decodedPath}, {uri} with the rest of the query, {time} as in the token, {key} unless it is an HMAC, {rand}, {user}, {address}, {host} and text',
    ),
  algorithm: TokenAlgorithm,
  encoding: TokenEncoding.default('hex'),
  timeFormat: TimeFormat.default('seconds'),
  utcOffset: z.int().min(-720).max(840).default(0).describe('Minutes ahead of UTC that YYYYMMDDHHMM is written in'),
  timeMeans: TimeMeans.default('signed').describe('signed: good for validSeconds from then; expires: until then'),
  validSeconds: z.int().min(1).max(31_536_000).default(1800),
  leewaySeconds: z.int().min(0).max(3600).default(60).describe('How far clocks may be apart'),
  action: z.enum(['deny', 'redirect']).default('deny').describe('403, or 302 to the target'),
  target: RedirectTarget.nullable().default(null),
};
type Fields = z.output<z.ZodObject<typeof fields>>;

// Fields that frame a request, or that the edge itself reads or needs.
const reserved =
  /^(?:x-e-.*|x-accel-.*|x-forwarded-.*|content-.*|if-.*|proxy-.*|access-control-.*|host|connection|upgrade|te|trailer|transfer-encoding|keep-alive|cookie|range|accept-encoding|via|cdn-loop|expect|x-request-id|x-real-ip|referer|user-agent|origin)$/i;
const plainName = /^[A-Za-z0-9_.~-]{1,64}$/;

function isName(place: Fields['place'], name: string): boolean {
  if (place === 'path') return name === '';
  return place === 'header' ? /^[A-Za-z0-9-]+$/.test(name) && !reserved.test(name) : plainName.test(name);
}

function usable(auth: Fields, ctx: z.RefinementCtx): void {
  const fault = (path: (string | number)[], message: ErrorMessage) => ctx.addIssue({ code: 'custom', path, message });
  checkPaths(auth, ctx);
  const names = auth.parts.map(({ name }) => name.toLowerCase());
  for (const [i, { name }] of auth.parts.entries()) {
    if (!isName(auth.place, name)) fault(['parts', i, 'name'], 'wrong format');
    else if (names.indexOf(name.toLowerCase()) !== i) fault(['parts', i, 'name'], 'named twice');
  }
  if (auth.place === 'path' && auth.parts.length > 1) fault(['parts'], 'one only');
  for (const { path, message } of recipeFaults(auth)) fault(path, message);
  if (auth.action === 'redirect' && auth.target === null) fault(['target'], 'required');
}

const keys = z
  .array(KeyInput)
  .min(1)
  .max(2)
  .describe('Either is accepted; the order says which is the first. A key that is left out is no longer accepted');
export const TokenAuthItem = z
  .object({ id: Id.optional().describe('Of one that stays; left out: a new one'), ...fields, keys })
  .superRefine(usable)
  .overwrite(storedPaths)
  .describe('What a token looks like, and which requests need one');

/** A token rule as stored and returned, without defaults. */
const StoredAuth = z.object({
  name: z.string(),
  enabled: z.boolean(),
  type: PathType,
  value: z.array(z.string()),
  except: z.object({ type: PathType, value: z.array(z.string()) }).nullable(),
  place: TokenPlace,
  parts: z.array(z.object({ name: z.string(), format: z.string() })),
  text: z.string(),
  algorithm: TokenAlgorithm,
  encoding: TokenEncoding,
  timeFormat: TimeFormat,
  utcOffset: z.int(),
  timeMeans: TimeMeans,
  validSeconds: z.int(),
  leewaySeconds: z.int(),
  action: z.enum(['deny', 'redirect']),
  target: z.string().nullable(),
  id: Id,
  keys: z.array(StoredKey),
});

const auths = z
  .array(TokenAuthItem)
  .max(100)
  .refine((list) => list.every(({ id }, i) => id === undefined || list.findIndex((one) => one.id === id) === i), {
    message: 'named twice',
  })
  .describe('In turns; the first that is about the path decides');
export const TokenAuthInput = z.object({ name: ModuleName, auths: auths.default([]) });
export const TokenAuthUpdate = z.object({ id: Id, name: ModuleName, auths });
export const TokenAuthItems = z.object({ items: auths });
export const TokenAuthSettings = z.object({ auths: z.array(StoredAuth) });
export const TokenAuth = TokenAuthSettings.extend(moduleFields);

/** A URL of the site, to be signed. */
export const SignInput = z.object({
  authID: Id,
  url: z.httpUrl().max(4096).describe('Without a token'),
  time: Time.optional().describe('When it is signed or until when it is good; left out: now, or validSeconds from now'),
  address: z.ipv4().or(z.ipv6()).optional().describe('Of the visitor, where it is signed'),
  rand: Loose.optional(),
  user: Loose.optional(),
  keyID: Id.optional().describe('Left out: the first key'),
});
export const Signed = z.object({
  url: z.string(),
  /** Header fields with the token, if the token is in a header. */
  headers: z.array(z.object({ name: z.string(), value: z.string() })),
  text: z.string().describe('What was signed, the key masked'),
  expiresAt: Time,
});

/** Verdicts about a request, the same as at a node. */
export const TokenReason = z.enum(['good', 'free', 'missing', 'twice', 'malformed', 'early', 'expired', 'signature']);
export const TokenCheckInput = z.object({
  url: z.httpUrl().max(8192).describe('As the visitor asks for it'),
  headers: z
    .array(z.object({ name: FieldName, value: z.string().max(4096) }))
    .max(20)
    .default([]),
  address: z.ipv4().or(z.ipv6()).optional().describe("Default: the caller's address"),
  time: Time.optional().describe('Default: now'),
});
export const TokenCheckResult = z.object({
  reason: TokenReason,
  authID: Id.nullable().describe('The rule that decided'),
  name: z.string(),
  seconds: z.int().nullable().describe('How much too late or too early; for a valid token, its remaining lifetime'),
  keyID: Id.nullable().describe('The key of the signature'),
  hint: z
    .enum(['decodedPath', 'encodedPath', 'query', 'noQuery', 'case', 'address'])
    .nullable()
    .describe('The change that would make the signature valid'),
  parts: z.array(z.string()).describe('Places where a token is expected'),
});

export type TokenAuthItem = z.output<typeof TokenAuthItem>;
export type TokenAuthSettings = z.output<typeof TokenAuthSettings>;
export type StoredAuth = z.output<typeof StoredAuth>;
export type SignInput = z.output<typeof SignInput>;
export type Signed = z.output<typeof Signed>;
export type TokenCheckInput = z.output<typeof TokenCheckInput>;
export type TokenCheckResult = z.output<typeof TokenCheckResult>;
export type TokenReason = z.output<typeof TokenReason>;
