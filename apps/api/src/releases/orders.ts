// Upgrade orders for nodes, and the tickets with which nodes download archives.
import type { UpgradeCommand } from '@edgeloom/contract/edge/releases.ts';
import type { Installation } from '../core/installation.ts';
import type { Secrets } from '../core/secrets.ts';
import { marker } from '../core/auth/tokens.ts';
import { controlOf } from '../install/pull.ts';
import type { Order } from '../node-link/commands.ts';
import type { StoredRelease } from './store.ts';

/** Long enough for a slow connection or a returning node. After that the order is repeated. */
const GOOD_FOR_MS = 6 * 3_600_000;

interface UpgradeRequest {
  upgradeID: string;
  nodeID: string;
  release: StoredRelease;
  /** To an older release than the node's. */
  rollback?: boolean;
  now: Date;
}

/** For `linkOf(here).commands.order(nodeID, …)`. Sending it twice is harmless. */
export function upgradeOrder(
  { env, secrets }: Pick<Installation, 'env' | 'secrets'>,
  { upgradeID, nodeID, release, rollback = false, now }: UpgradeRequest,
): Order {
  const { sha256 } = release.manifest;
  const body: Omit<UpgradeCommand, 'id' | 'deadline'> = {
    upgradeID,
    release: release.signed,
    control: controlOf(env),
    token: tickets(secrets).issue({ nodeID, sha256 }, now),
    rollback,
  };
  return { name: 'upgrade', body };
}

interface Ticket {
  nodeID: string;
  sha256: string;
}

/** HMACs of node, release and time, so that nothing stealable is stored. */
export function tickets(secrets: Pick<Secrets, 'sessionKey'>) {
  const { mark, isMark } = marker(secrets, 'release');
  const bodyOf = ({ nodeID, sha256 }: Ticket, ends: string) => `${nodeID}.${sha256}.${ends}`;

  return {
    issue(ticket: Ticket, now: Date): string {
      const ends = String(Math.floor((now.getTime() + GOOD_FOR_MS) / 1000));
      return `${ticket.nodeID}.${ends}.${mark(bodyOf(ticket, ends))}`;
    },
    /** The node that this ticket was issued to, or null. */
    holderOf(token: string, sha256: string, now: Date): string | null {
      const [nodeID = '', ends = '', given = ''] = token.split('.');
      const isGood = isMark(bodyOf({ nodeID, sha256 }, ends), given) && Number(ends) * 1000 > now.getTime();
      return isGood ? nodeID : null;
    },
  };
}
