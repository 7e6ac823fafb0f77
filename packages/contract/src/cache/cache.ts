import * as z from 'zod';
import { Id, Time } from '../common/common.ts';
import { checkPaths, PathType, PathValues, storedPaths } from '../common/paths.ts';

const QueryName = z.string().trim().min(1).max(128);
/** An RFC 9110 token without the star, which has a meaning in the other list. */
const CookieName = z
  .string()
  .trim()
  .max(128)
  .regex(/^[!#$%&'+.^_`|~0-9A-Za-z-]+$/, { message: 'wrong format' });
/** A cookie name or a prefix such as `wordpress_logged_in_*`. `*` is every cookie. */
const CookiePattern = z
  .string()
  .trim()
  .max(128)
  .regex(/^(?:[!#$%&'+.^_`|~0-9A-Za-z-]+\*?|\*)$/, { message: 'wrong format' });
const Seconds = z.int().min(0).max(31_536_000);

export const CacheRuleType = PathType.exclude(['all']);
export const QueryHandling = z.enum(['all', 'none', 'listed', 'sorted']);
export const CookieHandling = z.enum(['none', 'all', 'listed']);

const fields = {
  type: CacheRuleType.describe(
    'What of a request is compared: the extension, the whole path, how the path begins, or a pattern over the path',
  ),
  value: PathValues.min(1),
  cacheTime: Seconds.describe(
    'Seconds; 0: never cache what matches or, with honourOrigin, only for as long as the origin says',
  ),
  honourOrigin: z.boolean().default(false).describe('Where the origin states a lifetime of its own, that one wins'),
  minTime: Seconds.nullable()
    .default(null)
    .describe("With honourOrigin: the least of the origin's lifetime that counts; null: none"),
  maxTime: Seconds.nullable()
    .default(null)
    .describe("With honourOrigin: the most of the origin's lifetime that counts; null: none"),
  browserTime: Seconds.nullable()
    .default(null)
    .describe('Lifetime in browsers, in seconds; 0: revalidate each time; null: as the origin states'),
  staleWhileRevalidate: Seconds.nullable()
    .default(null)
    .describe('Seconds past its time for which it is served while it is asked about; null: as the origin says'),
  staleIfError: Seconds.nullable()
    .default(null)
    .describe(
      "Seconds past its time for which it stands in for a failing origin; null: as the origin says, else the site's setting",
    ),
  cookies: CookieHandling.default('none').describe('Cookies of a request that are part of the cache key'),
  cookieNames: z.array(CookieName).max(50).default([]).describe("With 'listed': the cookies that count"),
  passCookies: z
    .array(CookiePattern)
    .max(50)
    .default([])
    .describe(
      'A request with one of these cookies goes to the origin and is not stored; name* is every name that begins so',
    ),
  stripCookies: z
    .boolean()
    .default(false)
    .describe('An answer that sets cookies is stored without them; otherwise it is not stored'),
  slices: z
    .boolean()
    .default(false)
    .describe(
      'Large files: fetched and stored in slices, so that a range needs only its slices; the origin must support ranges',
    ),
  overrideOrigin: z
    .boolean()
    .default(false)
    .describe(
      "Stores a response although the origin's private, no-store or Set-Cookie forbids it; its cookies are removed",
    ),
  query: QueryHandling.default('all').describe(
    'The part of the query string that is in the cache key; the origin gets this part, in this order',
  ),
  queryNames: z
    .array(QueryName)
    .max(50)
    .default([])
    .describe("With 'listed': the parameters that are in the cache key and reach the origin"),
  priority: z.int().min(0).max(10_000).default(100).describe('Lower comes first; the first rule that matches wins'),
  enabled: z.boolean().default(true),
};
const coherent = (
  rule: {
    type: z.output<typeof CacheRuleType>;
    value: string[];
    query: string;
    queryNames: string[];
    cookies: string;
    cookieNames: string[];
    minTime: number | null;
    maxTime: number | null;
  },
  ctx: z.RefinementCtx,
) => {
  checkPaths(rule, ctx);
  if (rule.query === 'listed' && rule.queryNames.length === 0)
    ctx.addIssue({ code: 'custom', path: ['queryNames'], message: 'required' });
  if (rule.cookies === 'listed' && rule.cookieNames.length === 0)
    ctx.addIssue({ code: 'custom', path: ['cookieNames'], message: 'required' });
  if (rule.minTime !== null && rule.maxTime !== null && rule.minTime > rule.maxTime)
    ctx.addIssue({ code: 'custom', path: ['maxTime'], message: 'less than the least' });
};

export const CacheRuleInput = z.object(fields).superRefine(coherent).overwrite(storedPaths);
export const CacheRuleUpdate = z
  .object({ id: Id, ...fields })
  .superRefine(coherent)
  .overwrite(storedPaths);
export const CacheRule = z.object({
  id: Id,
  type: CacheRuleType,
  value: z.array(z.string()),
  cacheTime: z.int(),
  honourOrigin: z.boolean(),
  minTime: z.int().nullable(),
  maxTime: z.int().nullable(),
  browserTime: z.int().nullable(),
  staleWhileRevalidate: z.int().nullable(),
  staleIfError: z.int().nullable(),
  query: QueryHandling,
  queryNames: z.array(z.string()),
  cookies: CookieHandling,
  cookieNames: z.array(z.string()),
  passCookies: z.array(z.string()),
  stripCookies: z.boolean(),
  slices: z.boolean(),
  overrideOrigin: z.boolean(),
  priority: z.int(),
  enabled: z.boolean(),
  createdAt: Time,
  updatedAt: Time,
});

export const SetCookieHandling = z.enum(['refuse', 'strip', 'keep']);

/** Fields that nginx, the edge or the cache needs. They cannot be passed on or be part of the key. */
const reserved = new Set(
  (
    'host connection keep-alive upgrade te trailer transfer-encoding content-length expect proxy-connection proxy-authorization ' +
    'proxy cookie authorization range if-range if-match if-none-match if-modified-since if-unmodified-since accept-encoding ' +
    'cache-control pragma via cdn-loop x-forwarded-for x-forwarded-proto x-real-ip x-request-id'
  ).split(' '),
);
const PassedHeader = z
  .string()
  .trim()
  .toLowerCase()
  .max(64)
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, { message: 'wrong format' })
  .refine((name) => !reserved.has(name) && !/^x-(?:e|accel)-/.test(name), { message: 'wrong format' });

/** Cache settings of the whole site. */
export const CacheSettingInput = z.object({
  heuristics: z
    .boolean()
    .describe('If neither a rule nor the origin states a lifetime: a tenth of the age by Last-Modified, at most a day'),
  staleIfError: z
    .int()
    .min(0)
    .max(604_800)
    .describe('Seconds for which a stored answer stands in for a failing origin that says nothing about it'),
  shield: z
    .boolean()
    .optional()
    .describe('Nodes ask a relay of the zone for what they do not have, and not the origin; left out: as it is'),
  checkContentType: z
    .boolean()
    .optional()
    .describe('A rule by file type stores only responses whose content type fits the extension; left out: as it is'),
  passHeaders: z
    .array(PassedHeader)
    .max(20)
    .optional()
    .describe(
      'Request headers that the origin gets although they could change a response; they become part of the key',
    ),
  setCookie: SetCookieHandling.optional().describe(
    'Responses with Set-Cookie whose lifetime the origin states: not stored, stored without the cookie, or with it',
  ),
  honourVisitors: z.boolean().optional().describe("A visitor's Cache-Control counts; left out: as it is"),
  storePost: z
    .boolean()
    .optional()
    .describe('A response to POST with a stated lifetime and its own URL as Content-Location answers later GETs'),
});
export const CacheSetting = CacheSettingInput.required().extend({
  passHeaders: z.array(z.string()),
  hasRelay: z.boolean().describe('The zone has a relay: without one `shield` has no effect'),
});

/** The cached size of a site per node, as of each node's last scan. */
export const CurrentCache = z.object({
  objects: z.int(),
  bytes: z.int(),
  measuredAt: Time.nullable().describe('The oldest of the summed figures; null: no node has reported'),
  nodes: z.array(z.object({ nodeName: z.string(), objects: z.int(), bytes: z.int(), measuredAt: Time })),
});
export type CurrentCache = z.output<typeof CurrentCache>;

export type CacheRule = z.output<typeof CacheRule>;
export type CacheRuleInput = z.output<typeof CacheRuleInput>;
export type CacheRuleUpdate = z.output<typeof CacheRuleUpdate>;
export type CacheSettingInput = z.output<typeof CacheSettingInput>;
export type CacheSetting = z.output<typeof CacheSetting>;
