// What is brought to nodes as a whole and not as documents: the agent itself, and packs of data. Each is signed by Ed25519 by
// whoever made it; a node takes nothing that is not signed by a key it was given when it was installed.
import * as z from 'zod';
import { Id } from '../common/common.ts';
import { Command } from './messages.ts';

/** The agent, or a pack of data by its name. */
export const ReleaseProduct = z.enum(['agent', 'waf', 'risk', 'geo']);
export const ReleaseVersion = z.string().regex(/^\d{1,6}\.\d{1,6}\.\d{1,6}(-[0-9A-Za-z.-]{1,32})?$/);

export const ReleaseManifest = z.object({
  product: ReleaseProduct,
  version: ReleaseVersion,
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('Of the archive (tar.gz)'),
  bytes: z.int().min(1).max(1e10),
  createdAt: z.iso.datetime(),
  levels: z
    .array(z.object({ level: z.int(), networks: z.int() }))
    .max(10)
    .optional()
    .describe('Of a risk pack: how many networks are dropped at each level of a firewall'),
});

/** The manifest is text: what was signed are these bytes, however they would be written today. */
export const SignedRelease = z.object({
  manifest: z.string().max(10_000),
  signature: z.base64().max(200),
});

/** cmd.<node>.upgrade. Answered as soon as the node knows that it may have this one and has noted the order; what follows is
 *  told by reports. Repeating it is harmless, also with a release that is there already. */
export const UpgradeCommand = Command.extend({
  upgradeID: Id,
  release: SignedRelease,
  /** The way back. An older one than the node has is taken only so, and only if the node ran it before and still has it:
   *  whoever can send orders cannot bring back what has been replaced everywhere. */
  rollback: z.boolean().optional(),
  control: z.url().max(2000).describe('Where a node fetches the archive that was not told where its control plane is'),
  token: z.string().max(1000).describe('Sent there as bearer'),
});

/** cmd.<node>.removePack: the way back of a node that had no pack of it before. Only its first one goes so: whoever can send
 *  orders cannot take away what has been relied on. */
export const RemovePackCommand = Command.extend({ upgradeID: Id, product: ReleaseProduct.exclude(['agent']) });

/** `failed`: what was there before serves as if nobody had asked. `rolledBack`: the new one ran, was not well, and has gone. */
export const UpgradeState = z.enum(['fetching', 'switching', 'complete', 'failed', 'rolledBack']);

/** On up.<node>.upgrade, kept by the node until it is answered: it outlives the agent that wrote it. */
export const UpgradeReport = z.object({
  upgradeID: Id,
  product: ReleaseProduct,
  version: ReleaseVersion,
  state: UpgradeState,
  message: z.string().max(4000),
  at: z.iso.datetime(),
});

/** By which an archive lies on a node. */
export const releaseName = (sha256: string): string => sha256.slice(0, 16);

/** Which is older, as semantic versions go: less than 0, 0 or more. A draft (`1.2.0-rc.1`) is older than what it is a draft of. */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [partsOf(one), partsOf(other)];
  for (const [i, number] of a.numbers.entries()) if (number !== b.numbers[i]) return number - (b.numbers[i] ?? 0);
  if (a.draft === null || b.draft === null) return Number(b.draft !== null) - Number(a.draft !== null);
  return compareDrafts(a.draft.split('.'), b.draft.split('.'));
}

function partsOf(version: string): { numbers: number[]; draft: string | null } {
  const cut = version.indexOf('-');
  const numbers = (cut < 0 ? version : version.slice(0, cut)).split('.').map(Number);
  return { numbers, draft: cut < 0 ? null : version.slice(cut + 1) };
}

/** Numbers by their size and before words. */
function compareDrafts(one: string[], other: string[]): number {
  for (const [i, a] of one.entries()) {
    const b = other[i];
    if (b === undefined) return 1;
    if (a === b) continue;
    const [x, y] = [a, b].map((word) => (/^\d+$/.test(word) ? Number(word) : null));
    if (x != null && y != null) return x - y;
    if (x != null || y != null) return x != null ? -1 : 1;
    return a < b ? -1 : 1;
  }
  return one.length - other.length;
}

/** The newest first: by version, and of one version what was made last. */
export const byAge = (one: ReleaseManifest, other: ReleaseManifest): number =>
  compareVersions(other.version, one.version) ||
  (other.createdAt < one.createdAt ? -1 : Number(other.createdAt > one.createdAt));

export type ReleaseProduct = z.output<typeof ReleaseProduct>;
export type ReleaseManifest = z.output<typeof ReleaseManifest>;
export type SignedRelease = z.output<typeof SignedRelease>;
export type UpgradeCommand = z.output<typeof UpgradeCommand>;
export type RemovePackCommand = z.output<typeof RemovePackCommand>;
export type UpgradeState = z.output<typeof UpgradeState>;
export type UpgradeReport = z.output<typeof UpgradeReport>;
