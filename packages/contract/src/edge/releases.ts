// Releases of the agent and packs of data. Each is signed with Ed25519. A node accepts only signatures by keys from its
// installation.
import * as z from 'zod';
import { Id } from '../common/common.ts';
import { Command } from './messages.ts';

/** The agent, or a pack of data. */
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

/** The manifest is text: exactly the signed bytes. */
export const SignedRelease = z.object({
  manifest: z.string().max(10_000),
  signature: z.base64().max(200),
});

/** cmd.<node>.upgrade. Replies as soon as the order is accepted and stored. Reports follow. Idempotent. */
export const UpgradeCommand = Command.extend({
  upgradeID: Id,
  release: SignedRelease,
  /**
   * A downgrade is accepted only as a rollback to a release that the node ran before and still has, so that a stolen
   * order cannot install obsolete releases.
   */
  rollback: z.boolean().optional(),
  control: z.url().max(2000).describe('Where a node without a configured control plane fetches the archive'),
  token: z.string().max(1000).describe('Sent there as bearer'),
});

/**
 * cmd.<node>.removePack: rolls back the first pack of a product. Later packs cannot be removed, so that a stolen order
 * cannot disable protection.
 */
export const RemovePackCommand = Command.extend({ upgradeID: Id, product: ReleaseProduct.exclude(['agent']) });

/**
 * `failed`: the former release serves as before. `rolledBack`: the new release ran, was unhealthy, and was replaced.
 */
export const UpgradeState = z.enum(['fetching', 'switching', 'complete', 'failed', 'rolledBack']);

/** On up.<node>.upgrade. Stored on the node until acknowledged, so it survives the agent that wrote it. */
export const UpgradeReport = z.object({
  upgradeID: Id,
  product: ReleaseProduct,
  version: ReleaseVersion,
  state: UpgradeState,
  message: z.string().max(4000),
  at: z.iso.datetime(),
});

/** The name of a release's folder on a node. */
export const releaseName = (sha256: string): string => sha256.slice(0, 16);

/** Compares semantic versions. Pre-releases (`1.2.0-rc.1`) precede their release. */
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

/** Numbers compare numerically and precede words. */
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

/** Newest first: by version, then by build time. */
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
