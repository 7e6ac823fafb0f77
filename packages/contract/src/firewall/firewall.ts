// A site's own firewall: lists of addresses, regions, reputation and user agents.
import * as z from 'zod';
import { AddressEntries, AddressEntry, MAX_ADDRESSES } from '../common/address-ranges.ts';
import { Id, Memo, paging, Text, Time } from '../common/common.ts';
import { asciiName, DomainName } from '../common/net.ts';
import { decodedPath, pathError, PathPattern, storedPath } from '../common/paths.ts';
import { safePattern } from '../common/pattern.ts';
import type { ErrorMessage } from '../messages.ts';
import { riskLevels } from '../zone-firewall/zone-firewall.ts';

export const MAX_LISTS = 100;
export const MAX_RULES = 50;
/** The column is a smallint. */
const MAX_ADVANCE_TYPE = 32_767;

/** A path, or a URL with its host. A `*` at the end stands for everything that follows. */
export const ListURL = z
  .string()
  .trim()
  .max(2048)
  .superRefine((text, ctx) => {
    const message = listURLError(text);
    if (message) ctx.addIssue({ code: 'custom', message });
  })
  .overwrite((text) => {
    const { host, path, isPrefix } = partsOfListURL(text);
    if (listURLError(text)) return text;
    return host.replace(/[^/]+$/, asciiName) + storedPath(path) + (isPrefix ? '*' : '');
  });

function partsOfListURL(text: string) {
  const host = /^https?:\/\/[^/]+(?=\/)/i.exec(text)?.[0] ?? '';
  const isPrefix = text.endsWith('*');
  return { host, path: text.slice(host.length, isPrefix ? -1 : undefined), isPrefix };
}

function listURLError(text: string): ErrorMessage | null {
  const { host, path, isPrefix } = partsOfListURL(text);
  if (host !== '' && !isHost(nameOf(host))) return 'enter a domain name';
  return path.startsWith('/') ? pathError(path, isPrefix ? 'start' : 'whole') : 'enter a path or a URL';
}

const nameOf = (host: string) => asciiName(host.replace(/^https?:\/\//i, '')).toLowerCase();
const IPv4 = z.ipv4();
/** The edge compares no port, and a wildcard domain by the name that visitors ask for. */
const isHost = (name: string) =>
  (DomainName.safeParse(name).success && !name.startsWith('*')) || IPv4.safeParse(name).success;

/** An entry as the edge compares it. */
export function comparedListURL(text: string) {
  const { host, path, isPrefix } = partsOfListURL(text);
  return {
    ...(host !== '' && { host: nameOf(host) }),
    path: decodedPath(path),
    prefix: isPrefix,
  };
}
export const methods = ['GET', 'POST', 'DELETE', 'PUT', 'HEAD', 'PATCH', 'OPTIONS'] as const;
const Expiry = z.object({ ip: AddressEntry, at: Time });

const list = {
  ips: AddressEntries.describe('Addresses, networks, and ranges (a-b)'),
  expires: z.array(Expiry).max(MAX_ADDRESSES).default([]).describe('Entries that end, and when'),
  url: z.array(ListURL).max(50).default([]).describe('Paths or URLs, exact or ending in *; empty: all'),
  methodValues: z.array(z.enum(methods)).max(methods.length).default([]).describe('Empty: all methods'),
  memo: Memo.default(''),
  monitor: z.boolean().default(false).describe('Only logged as "would have blocked"'),
  enabled: z.boolean().default(true),
};
export const AddressListInput = z.object(list);
export const AddressListUpdate = z.object({ id: Id, ...list });
export const AddressList = z.object({
  id: Id,
  ips: z.array(z.string()),
  expires: z.array(z.object({ ip: z.string(), at: Time })),
  url: z.array(z.string()),
  methodValues: z.array(z.string()),
  memo: z.string(),
  monitor: z.boolean(),
  enabled: z.boolean(),
  createdAt: Time,
  updatedAt: Time,
});
export const AddressListQuery = paging(['createdAt', 'updatedAt']).extend({
  keyword: z.string().max(256).optional().describe('An entry, or part of the memo'),
});

const Pattern = z
  .string()
  .trim()
  .min(1)
  .max(1024)
  .superRefine((pattern, ctx) => {
    const fault = safePattern(pattern);
    if (fault) ctx.addIssue({ code: 'custom', message: fault });
  });
const BlockType = z
  .literal([0, 1, 2, 3, 4])
  .default(1)
  .describe('0: refused; else a challenge: 1 five-second shield, 2 code, 3 click, 4 redirect');
const reaction = {
  urlRegex: PathPattern.min(1).default('.*').describe('Of the path'),
  blockType: BlockType,
  monitor: z.boolean().default(false).describe('Only logged as "would have blocked"'),
  enabled: z.boolean().default(true),
};
const reacted = {
  urlRegex: z.string(),
  blockType: z.int(),
  monitor: z.boolean(),
  enabled: z.boolean(),
  createdAt: Time,
  updatedAt: Time,
};

/** `continent-AS`, `country-TW`, `province-TW-TPE`. */
export const GeoID = z.string().regex(/^(?:continent-[A-Z]{2}|country-[A-Z]{2}|province-[A-Z]{2}-[A-Z0-9]{1,3})$/, {
  message: 'wrong format',
});
const geo = {
  isBlack: z.boolean().default(true).describe('false: only these regions are let in, and unknown ones'),
  geoIDs: z.array(GeoID).min(1).max(500),
  ...reaction,
};
export const GeoRuleInput = z.object(geo);
export const GeoRuleUpdate = z.object({ id: Id, ...geo });
export const GeoRule = z.object({ id: Id, isBlack: z.boolean(), geoIDs: z.array(z.string()), ...reacted });

const userAgent = { userAgentRegex: Pattern, ...reaction };
export const UserAgentInput = z.object(userAgent);
export const UserAgentUpdate = z.object({ id: Id, ...userAgent });
export const UserAgentRule = z.object({ id: Id, userAgentRegex: z.string(), ...reacted });

export const AbuseIPInput = z.object({
  score: z.literal(riskLevels).describe('Addresses with this risk score and higher are refused'),
  monitor: z.boolean().default(false),
  enabled: z.boolean().default(true),
});
export const AbuseIP = z.object({
  score: z.int(),
  monitor: z.boolean(),
  enabled: z.boolean().describe('False as long as nothing was stored'),
});

/** Nodes ignore it. */
export const FirewallAdvanceInput = z.object({
  type: z.int().min(0).max(MAX_ADVANCE_TYPE).default(0).describe('Stored only'),
  rule: Text.default('url').describe('Stored only'),
});
export const FirewallAdvance = z.object({ type: z.int(), rule: z.string() });

/** A list without its entries. */
export const AddressListSummary = AddressList.omit({ ips: true, expires: true }).extend({
  isBlack: z.boolean(),
  count: z.int().describe('Entries'),
});

export const FirewallSettings = z.object({
  abuseIP: AbuseIP,
  advance: FirewallAdvance.describe('Has no effect'),
  blacklists: z.int().describe('Enabled ones'),
  whitelists: z.int().describe('Enabled ones'),
  geos: z.int().describe('Enabled ones'),
  userAgents: z.int().describe('Enabled ones'),
});

const Names = z.object({ en: z.string(), 'zh-TW': z.string(), 'zh-CN': z.string() });
export const GeoRegion = z.object({ geoID: z.string(), continent: z.string(), names: Names });
export const GeoRegions = z.object({
  continents: z.array(GeoRegion),
  countries: z.array(GeoRegion),
  provinces: z.array(GeoRegion).describe("Empty without an operator's database that knows them"),
});

export type AddressListInput = z.output<typeof AddressListInput>;
export type AddressListUpdate = z.output<typeof AddressListUpdate>;
export type AddressList = z.output<typeof AddressList>;
export type AddressListQuery = z.output<typeof AddressListQuery>;
export type GeoRule = z.output<typeof GeoRule>;
export type GeoRuleInput = z.output<typeof GeoRuleInput>;
export type UserAgentRule = z.output<typeof UserAgentRule>;
export type UserAgentInput = z.output<typeof UserAgentInput>;
export type AbuseIPInput = z.output<typeof AbuseIPInput>;
export type AbuseIP = z.output<typeof AbuseIP>;
export type FirewallAdvance = z.output<typeof FirewallAdvance>;
export type GeoRegions = z.output<typeof GeoRegions>;
