// Releases: each node is ordered to upgrade and reports its progress (reports.ts). A rollback orders the former
// release.
import { compareVersions, ReleaseProduct, ReleaseVersion } from '@edgeloom/contract/edge/releases.ts';
import { codedMessage } from '@edgeloom/contract/rollouts/messages.ts';
import * as z from 'zod';
import { upgradeOrder } from '../releases/orders.ts';
import { releasesIn } from '../releases/store.ts';
import type { Kind } from './rollout-kind.ts';
import type { NodeRecord } from './rollout-state.ts';

export const ReleaseTarget = z.object({ product: ReleaseProduct, version: z.string() });
export type ReleaseTarget = z.output<typeof ReleaseTarget>;
const Before = z.object({ version: z.string() });
const Packs = z.record(z.string(), z.string()).catch({});

/** '' when there is none. */
export const versionAt = ({ version, packs }: Pick<NodeRecord, 'version' | 'packs'>, product: ReleaseProduct): string =>
  product === 'agent' ? version : (Packs.parse(packs)[product] ?? '');

export const releaseKind: Kind = {
  canCancelUpdate: false,
  updatesLateNodes: false,
  before: ({ target }, node) => ({ version: versionAt(node, ReleaseTarget.parse(target).product) }),

  async commandFor(installation, { target }, { nodeId, orderKey, state, before }, now) {
    const { product, version: to } = ReleaseTarget.parse(target);
    const isBack = state === 'rollingBack';
    const had = Before.nullable().parse(before)?.version ?? '';
    const version = isBack ? had : to;
    if (version === '' && product !== 'agent' && orderKey !== null)
      return { name: 'removePack', body: { upgradeID: orderKey, product } };
    if (version === '') return codedMessage('noFormerVersion', { product });
    const { releases } = await releasesIn(installation.env);
    const release = releases.find(({ manifest }) => manifest.product === product && manifest.version === version);
    if (!release || orderKey === null) return codedMessage('notInStore', { product, version });
    const rollback = isBack || isOlder(to, had);
    return upgradeOrder(installation, { upgradeID: orderKey, nodeID: nodeId, release, rollback, now });
  },
};

/** An operator chose an older release. A node's version may belong to no release. */
const isOlder = (to: string, had: string) => ReleaseVersion.safeParse(had).success && compareVersions(to, had) < 0;
