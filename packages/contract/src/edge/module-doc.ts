// What a module says to the edge, whichever of a site's domains it is assigned to.
import * as z from 'zod';
import { Id } from '../common/common.ts';
import { Sealed } from './sealed.ts';

/** Text and the name of a variable in turns, beginning with text. */
const Parts = z.array(z.string()).min(1);

const FieldChange = z.object({
  action: z.enum(['add', 'set', 'remove']),
  name: z.string().regex(/^[A-Za-z0-9-]+$/),
  value: Parts,
});
export const CustomHeaderDoc = z.object({
  kind: z.literal('module'),
  id: Id,
  module: z.literal('customHeader'),
  request: z.array(FieldChange),
  response: z.array(FieldChange),
});

export const CorsDoc = z.object({
  kind: z.literal('module'),
  id: Id,
  module: z.literal('cors'),
  any: z.boolean().describe('every origin, and none is told apart'),
  /** `https://app.example.com` in lower case, without a port that the scheme implies. */
  exact: z.array(z.string()),
  /** Of `https://*.example.com:8443`: what stands before and behind the star, which is one label. */
  wildcards: z.array(z.object({ before: z.string(), after: z.string() })),
  /** What may follow the host that was asked: `` or `:8443`. */
  own: z.array(z.string()),
  methods: z.string(),
  /** `*`: those that a script asks for. */
  headers: z.string(),
  expose: z.string(),
  maxAge: z.int(),
  credentials: z.boolean(),
});

export const RedirectDoc = z.object({
  id: Id,
  code: z.union([z.literal(301), z.literal(302), z.literal(307), z.literal(308)]),
  /** Text and the number of a capture in turns; begins with `/`, `http://` or `https://`. */
  to: Parts,
  keepQuery: z.boolean(),
});
export const UrlRedirectDoc = z.object({
  kind: z.literal('module'),
  id: Id,
  module: z.literal('urlRedirect'),
  /** By path, as it is after decoding; with its query behind, where only that query is meant; with a host before it. */
  exact: z.record(z.string(), RedirectDoc),
  /** By a path without a slash at its end: itself and all below it. The longest wins. */
  prefix: z.record(z.string(), RedirectDoc.extend({ keepRest: z.boolean() })),
  /** In turns; `literal` is how each match begins. */
  patterns: z.array(RedirectDoc.extend({ literal: z.string(), pattern: z.string() })),
  hosts: z.boolean().describe('some source names a host'),
  queries: z.boolean().describe('some source names a query'),
});

export const ProxyRewriteDoc = z.object({
  kind: z.literal('module'),
  id: Id,
  module: z.literal('proxyRewrite'),
  /** In turns; the first that matches wins. Paths are decoded. */
  rules: z.array(
    z.object({
      type: z.enum(['exact', 'prefix', 'regex']),
      source: z.string().describe('of a prefix without a slash at its end'),
      literal: z.string().describe('how each match of a pattern begins'),
      /** Text and the number of a capture in turns. */
      path: Parts,
      query: z.string(),
      keepRest: z.boolean(),
      keepQuery: z.boolean(),
      host: z.string().nullable(),
    }),
  ),
});

const TokenPathsDoc = z.object({
  type: z.enum(['all', 'fileType', 'url', 'prefix', 'regex']),
  values: z.array(z.string()),
});
export const TokenAuthDoc = z.object({
  kind: z.literal('module'),
  id: Id,
  module: z.literal('tokenAuth'),
  /** In turns; the first that is about the path decides. */
  auths: z.array(
    z.object({
      id: Id,
      paths: TokenPathsDoc,
      except: TokenPathsDoc.optional(),
      place: z.enum(['query', 'path', 'header', 'cookie']),
      /** Where it stands, a pattern over what stands there, and what each group is. */
      parts: z.array(z.object({ name: z.string(), pattern: z.string(), variables: z.array(z.string()) })).min(1),
      /** What is signed: text and the name of a variable in turns. */
      text: Parts,
      hash: z.enum(['md5', 'sha1', 'sha256', 'sha512']),
      hmac: z.boolean(),
      encoding: z.enum(['hex', 'lowerHex', 'upperHex', 'base64', 'base64url']),
      timeFormat: z.enum(['seconds', 'milliseconds', 'hex', 'minutes']),
      utcOffset: z.int().describe('minutes'),
      /** From the time in the token until it is no longer good. */
      goodSeconds: z.int().min(0),
      /** A token of later than now is none. */
      notEarly: z.boolean(),
      leewaySeconds: z.int().min(0),
      keys: z.array(Sealed).min(1),
      redirect: z.object({ url: z.string(), host: z.string(), path: z.string() }).optional(),
    }),
  ),
});

export const ModuleDoc = z.discriminatedUnion('module', [
  CustomHeaderDoc,
  CorsDoc,
  UrlRedirectDoc,
  ProxyRewriteDoc,
  TokenAuthDoc,
]);
/** Of a host: the module of each kind that it has. */
export const HostModules = z.object({
  customHeader: Id.optional(),
  cors: Id.optional(),
  urlRedirect: Id.optional(),
  proxyRewrite: Id.optional(),
  tokenAuth: Id.optional(),
});

export type CustomHeaderDoc = z.output<typeof CustomHeaderDoc>;
export type CorsDoc = z.output<typeof CorsDoc>;
export type RedirectDoc = z.output<typeof RedirectDoc>;
export type ProxyRewriteDoc = z.output<typeof ProxyRewriteDoc>;
export type TokenAuthDoc = z.output<typeof TokenAuthDoc>;
export type UrlRedirectDoc = z.output<typeof UrlRedirectDoc>;
export type ModuleDoc = z.output<typeof ModuleDoc>;
export type HostModules = z.output<typeof HostModules>;
