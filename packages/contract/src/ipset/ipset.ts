// The block set of a zone: temporarily blocked addresses, enforced by the kernel where possible, and by nginx.
import * as z from 'zod';
import { Id, Time } from '../common/common.ts';
import { noDuplicateIP } from '../common/net.ts';
import { networkOf } from './network.ts';

const Seconds = z
  .int()
  .min(10)
  .max(30 * 86_400);

export const Ipset = z.object({
  enabled: z.boolean(),
  timeout: Seconds.describe('Seconds that an address is blocked where nobody says otherwise'),
  max: z.int().min(100).max(100_000).describe('How many are blocked at once; one more is not taken'),
});
export const noIpset: z.output<typeof Ipset> = { enabled: false, timeout: 600, max: 50_000 };

/** Causes of blocks: those of refused requests, and `manual` by an operator. */
export const blockCauses = [
  'blacklist',
  'abuseIP',
  'geo',
  'userAgent',
  'crawlers',
  'antiReferer',
  'antiHeader',
  'acl',
  'luaAcl',
  'frequency',
  'limitReq',
  'limitConn',
  'antiCC',
  'waf',
  'tokenAuth',
  'l4',
  'manual',
] as const;

const Named = z.object({ id: Id, name: z.string() });
export const Block = z.object({
  id: Id,
  ip: z.string().describe('An IPv4 address, or the /64 of IPv6 that counts as one'),
  cause: z.string().describe('One of the causes; an edge of a later version may know more'),
  site: Named.nullable().describe('Whose visitor it was'),
  node: Named.nullable().describe('That saw it first'),
  author: z.string().describe('Who blocked it by hand'),
  since: Time,
  until: Time,
});
/** A node whose kernel does not enforce the set. */
export const BlockFault = z.object({ node: Named, error: z.string() });
export const BlockColumn = ['since', 'until', 'ip', 'cause'] as const;

export const BlockedIP = z
  .string()
  .trim()
  .toLowerCase()
  .max(50)
  .refine((text) => networkOf(text) !== null, { message: 'wrong format' });
export const BlockInput = z.object({
  ips: z.array(BlockedIP).min(1).max(100).superRefine(noDuplicateIP),
  timeout: Seconds.optional().describe("Seconds; without it the set's"),
});

export type Ipset = z.output<typeof Ipset>;
export type Block = z.output<typeof Block>;
export type BlockInput = z.output<typeof BlockInput>;
