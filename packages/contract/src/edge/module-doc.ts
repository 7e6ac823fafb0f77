// Documents of site modules, independent of the domains they are assigned to.
import * as z from 'zod';
import { Id } from '../common/common.ts';
import { Sealed } from './sealed.ts';

/** Alternating text and variable names, starting with text. */
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
  any: z.boolean().describe('every origin, with the same response'),
  /** `https://app.example.com` in lower case, without a default port. */
  exact: z.array(z.string()),
  /** For `https://*.example.com:8443`: the parts around the star, which is one label. */
  wildcards: z.array(z.object({ before: z.string(), after: z.string() })),
  /** Suffixes of the requested host: `` or `:8443`. */
  own: z.array(z.string()),
  methods: z.string(),
  /** `*`: the requested ones. */
  headers: z.string(),
  expose: z.string(),
  maxAge: z.int(),
  credentials: z.boolean(),
});

export const RedirectDoc = z.object({
  id: Id,
  code: z.union([z.literal(301), z.literal(302), z.literal(307), z.literal(308)]),
  /** Alternating text and capture numbers. Starts with `/`, `http://` or `https://`. */
  to: Parts,
  keepQuery: z.boolean(),
});
export const UrlRedirectDoc = z.object({
  kind: z.literal('module'),
  id: Id,
  module: z.literal('urlRedirect'),
  /**
   * The keys are the host of the rule, if any, the path's key (`pathKey`), and the query of the rule, if any, behind
   * a `?`. The path's key is the decoded path. If its bytes are not UTF-8, it is a `%` and the path with its escapes.
   */
  exact: z.record(z.string(), RedirectDoc),
  /** By such a key without query, of a path without trailing slash: the path and all below. The longest wins. */
  prefix: z.record(z.string(), RedirectDoc.extend({ keepRest: z.boolean() })),
  /** In order. `literal` is the common beginning of all matches. */
  patterns: z.array(RedirectDoc.extend({ literal: z.string(), pattern: z.string() })),
  hosts: z.boolean().describe('some source names a host'),
  queries: z.boolean().describe('some source names a query'),
});

export const ProxyRewriteDoc = z.object({
  kind: z.literal('module'),
  id: Id,
  module: z.literal('proxyRewrite'),
  /** In order. The first match wins. Paths are decoded. */
  rules: z.array(
    z.object({
      type: z.enum(['exact', 'prefix', 'regex']),
      source: z.string().describe('of a prefix without a slash at its end'),
      literal: z.string().describe('how each match of a pattern begins'),
      /** Alternating text and capture numbers. */
      path: Parts,
      spelled: Parts.optional().describe('the path as it is sent, with the escapes of its author'),
      query: z.string(),
      keepRest: z.boolean(),
      keepQuery: z.boolean(),
      host: z.string().nullable(),
    }),
  ),
});

const TokenPathsDoc = z.object({
  type: z.enum(['all', 'fileType', 'url', 'prefix', 'regex']),
  value: z.array(z.string()),
});
export const TokenAuthDoc = z.object({
  kind: z.literal('module'),
  id: Id,
  module: z.literal('tokenAuth'),
  /** In order. The first entry that matches the path decides. */
  auths: z.array(
    z.object({
      id: Id,
      paths: TokenPathsDoc,
      except: TokenPathsDoc.optional(),
      place: z.enum(['query', 'path', 'header', 'cookie']),
      /** The token's location, a pattern for its text, and the meaning of each group. */
      parts: z.array(z.object({ name: z.string(), pattern: z.string(), variables: z.array(z.string()) })).min(1),
      /** The signed text: alternating text and variable names. */
      text: Parts,
      hash: z.enum(['md5', 'sha1', 'sha256', 'sha512']),
      hmac: z.boolean(),
      encoding: z.enum(['hex', 'lowerHex', 'upperHex', 'base64', 'base64url']),
      timeFormat: z.enum(['seconds', 'milliseconds', 'hex', 'minutes']),
      utcOffset: z.int().describe('minutes'),
      /** Validity after the token's time. */
      goodSeconds: z.int().min(0),
      /** A token with a future time is invalid. */
      notEarly: z.boolean(),
      leewaySeconds: z.int().min(0),
      keys: z.array(Sealed).min(1),
      redirect: z.object({ url: z.string(), host: z.string(), path: z.string() }).optional(),
    }),
  ),
});

/** A condition on one field. `negated`: of what follows. */
const AclConditionDoc = z.object({
  field: z.string(),
  name: z.string().optional().describe('of a header field (in lower case), a cookie or a parameter'),
  operator: z.enum(['in', 'networks', 'contains', 'startsWith', 'endsWith', 'matches', 'exists', 'greater', 'less']),
  negated: z.boolean(),
  lower: z.boolean().describe('the field is compared in lower case'),
  text: z.string().optional(),
  number: z.number().optional(),
  list: z.array(z.union([z.string(), z.number()])).optional(),
});
export const AclDoc = z.object({
  kind: z.literal('module'),
  id: Id,
  module: z.literal('acl'),
  /** In order. The first one that matches decides. */
  rules: z.array(
    z.object({
      id: Id,
      name: z.string(),
      /** One of the lists must hold as a whole. */
      any: z.array(z.array(AclConditionDoc).min(1)).min(1),
      action: z.enum(['deny', 'drop', 'blacklist', 'allow', 'redirect']),
      redirect: z.object({ code: z.int(), url: z.string(), host: z.string().optional(), path: z.string() }).optional(),
      monitor: z.boolean(),
      matchesAtLimit: z.boolean().describe('a condition that cannot be judged counts as true'),
    }),
  ),
  needs: z.array(z.string().min(1).max(64)).max(64).optional(),
});

export const LuaAclDoc = z.object({
  kind: z.literal('module'),
  id: Id,
  module: z.literal('luaAcl'),
  /** Lua that the control plane generated. It has no names and texts of tenants, except as escaped constants. */
  code: z.string().max(262_144),
  deniesAtLimit: z.boolean(),
  monitor: z.boolean(),
});

const WafExceptionDoc = z.object({
  rule: z.string().optional(),
  path: z.string().optional(),
  parameter: z.string().optional(),
});
export const WafDoc = z.object({
  kind: z.literal('module'),
  id: Id,
  module: z.literal('waf'),
  mode: z.enum(['off', 'monitor', 'block']),
  paranoia: z.int().min(1).max(4),
  /** Rules and categories. */
  disabled: z.array(z.string()),
  exceptions: z.array(WafExceptionDoc),
  /** With a host or an end. Nodes without them ignore this list; in the other one they would apply more widely. */
  limitedExceptions: z
    .array(
      WafExceptionDoc.extend({
        host: z.string().optional(),
        expires: z.int().optional().describe('Unix time in seconds'),
      }),
    )
    .optional(),
  bodyBytes: z.int(),
  deniesLargeBodies: z.boolean(),
});

export const ModuleDoc = z.discriminatedUnion('module', [
  CustomHeaderDoc,
  CorsDoc,
  UrlRedirectDoc,
  ProxyRewriteDoc,
  TokenAuthDoc,
  AclDoc,
  LuaAclDoc,
  WafDoc,
]);
/** A host's module of each kind. */
export const HostModules = z.object({
  customHeader: Id.optional(),
  cors: Id.optional(),
  urlRedirect: Id.optional(),
  proxyRewrite: Id.optional(),
  tokenAuth: Id.optional(),
  acl: Id.optional(),
  luaAcl: Id.optional(),
  waf: Id.optional(),
});

export type CustomHeaderDoc = z.output<typeof CustomHeaderDoc>;
export type CorsDoc = z.output<typeof CorsDoc>;
export type RedirectDoc = z.output<typeof RedirectDoc>;
export type ProxyRewriteDoc = z.output<typeof ProxyRewriteDoc>;
export type LuaAclDoc = z.output<typeof LuaAclDoc>;
export type WafDoc = z.output<typeof WafDoc>;
export type AclDoc = z.output<typeof AclDoc>;
export type TokenAuthDoc = z.output<typeof TokenAuthDoc>;
export type UrlRedirectDoc = z.output<typeof UrlRedirectDoc>;
export type ModuleDoc = z.output<typeof ModuleDoc>;
export type HostModules = z.output<typeof HostModules>;
