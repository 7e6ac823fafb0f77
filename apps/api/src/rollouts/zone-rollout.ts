// Zone changes: a trial document names the nodes that try it. Nodes receive no commands. Their acks show the progress.
import type { PoolClient } from 'pg';
import * as z from 'zod';
import { TrialDoc } from '@edgeloom/contract/edge/documents.ts';
import { setTrialNodes, promote, withdraw } from '../zone-settings/trials.ts';
import type { Kind, Progress } from './rollout-kind.ts';
import { hasChange, type NodeRecord, type RolloutRecord } from './rollout-state.ts';

export const ZoneTarget = z.object({ zoneID: z.string(), version: z.int() });
export type ZoneTarget = z.output<typeof ZoneTarget>;

export const zoneKind: Kind = {
  canCancelUpdate: true,
  // The zone's own document reaches them.
  updatesLateNodes: true,
  before: () => null,

  async publish(client, rollout) {
    const { zoneID, version } = ZoneTarget.parse(rollout.target);
    if (rollout.state === 'completed') return promote(client, zoneID, version);
    if (rollout.state === 'rollingBack' || rollout.state === 'rolledBack')
      return withdraw(client, zoneID, version, { note: rollout.message ?? '', messageCode: rollout.messageCode });
    const trying = rollout.nodes.filter(hasChange).map(({ nodeId }) => nodeId);
    return setTrialNodes(client, zoneID, version, trying);
  },

  async readProgress(client, rollout) {
    const { zoneID, version } = ZoneTarget.parse(rollout.target);
    const document = await readTrial(client, zoneID);
    const found = rollout.nodes.flatMap((node): [NodeRecord, Progress][] => {
      const progress = progressOf(node, rollout, document, version);
      return progress ? [[node, progress]] : [];
    });
    return new Map(found);
  },
};

/** The last published document. Null: none. */
export interface Published {
  revision: number;
  doc: TrialDoc | null;
}

async function readTrial(client: PoolClient, zoneId: string): Promise<Published | null> {
  const { rows } = await client.query<{ revision: number; body: string | null }>(
    `SELECT revision, body FROM edge_documents WHERE zone_id = $1 AND key = 'trial'`,
    [zoneId],
  );
  const [row] = rows;
  return row ? { revision: row.revision, doc: row.body === null ? null : TrialDoc.parse(JSON.parse(row.body)) } : null;
}

type NodeReport = Pick<NodeRecord, 'nodeId' | 'state' | 'revision' | 'rejected'>;

/** The progress that an ack implies. Null: none yet. */
export function progressOf(
  node: NodeReport,
  rollout: Pick<RolloutRecord, 'state'>,
  published: Published | null,
  version: number,
): Progress | null {
  const { nodeId, revision, rejected } = node;
  const isAcknowledged = published !== null && revision >= published.revision;
  if (node.state === 'rollingBack') {
    const isWithdrawn = published === null || published.doc?.version !== version;
    if (!isWithdrawn || !(isAcknowledged || published === null)) return null;
    // The node may be unable to restore: a former port may be in use by now.
    const rejection = rejected.find(({ key }) => key === 'trial');
    return rejection ? { event: 'failed', message: rejection.error } : { event: 'complete', message: null };
  }
  if (node.state !== 'updating' || rollout.state === 'rollingBack') return null;
  if (published?.doc?.version !== version || !published.doc.nodes.includes(nodeId)) return null;
  const refused = rejected.find(({ key }) => key === 'trial');
  if (refused && refused.revision >= published.revision) return { event: 'failed', message: refused.error };
  return isAcknowledged && !refused ? { event: 'complete', message: null } : null;
}
