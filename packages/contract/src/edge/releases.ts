// What is brought to nodes as a whole and not as documents: the agent itself, and packs of data. Whoever makes a release signs
// it (Ed25519); a node takes nothing that is not signed by a key it was given when it was installed.
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
});

/** The manifest is text: what was signed are these bytes, however they would be written today. */
export const SignedRelease = z.object({
  manifest: z.string().max(10_000),
  signature: z.base64().max(200),
});

/** cmd.<node>.upgrade. Answered as soon as the node knows the signature is good and has noted the order; what follows is told by
 *  reports. Repeating it is harmless, also with a release that is there already. */
export const UpgradeCommand = Command.extend({
  upgradeID: Id,
  release: SignedRelease,
  url: z.url().max(2000).describe('Where the archive is fetched'),
  token: z.string().max(1000).describe('Sent there as bearer'),
});

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

export type ReleaseProduct = z.output<typeof ReleaseProduct>;
export type ReleaseManifest = z.output<typeof ReleaseManifest>;
export type SignedRelease = z.output<typeof SignedRelease>;
export type UpgradeCommand = z.output<typeof UpgradeCommand>;
export type UpgradeState = z.output<typeof UpgradeState>;
export type UpgradeReport = z.output<typeof UpgradeReport>;
