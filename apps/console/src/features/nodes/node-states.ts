import type { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { clock, dateOf } from '../../lib/format.ts';
import type { T } from '../../lib/i18n.ts';
import { statusTone, type Tone } from '../../theme/tokens.ts';

export type EdgeNode = Received<typeof nodes.list>['data'][number];

const order: readonly Tone[] = ['ok', 'busy', 'warn', 'bad', 'held', 'off', 'unknown'];

/** Number of nodes per tone, healthy ones first. Tones without nodes are omitted. */
export const tally = (counts: Received<typeof nodes.counts>['data']) =>
  order
    .map((tone) => ({
      tone,
      count: counts.reduce((sum, { status, count }) => sum + (statusTone.node[status] === tone ? count : 0), 0),
    }))
    .filter(({ count }) => count > 0);

/** Why a node is not simply enabled. */
export function reasonOf(
  node: Pick<EdgeNode, 'status' | 'error' | 'lastSeenAt'> & Partial<Pick<EdgeNode, 'drainEndsAt' | 'load'>>,
  t: T,
): string | null {
  const drains = dateOf(node.drainEndsAt);
  if (drains) return t('nodes.reasons.drains', { time: clock(drains) });
  const seen = dateOf(node.lastSeenAt);
  if (node.status === 'offline') return seen ? t('nodes.reasons.offline', { time: clock(seen) }) : node.error;
  if (node.status === 'natsError') return seen ? t('nodes.reasons.natsError', { time: clock(seen) }) : node.error;
  if (node.status === 'uninitialized') return t('nodes.reasons.uninitialized');
  return node.error ?? (node.load?.cacheDiskFull === true ? t('nodes.reasons.cacheDiskFull') : null);
}

/** Revisions that a node is behind its zone. Undefined before it joins. */
export const gapOf = ({
  initialized,
  currentSerial,
  latestSerial,
}: Pick<EdgeNode, 'initialized' | 'currentSerial' | 'latestSerial'>) =>
  initialized ? Math.max(0, latestSerial - currentSerial) : 0;
