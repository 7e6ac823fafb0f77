// Sends a node its zone's keys. The bus identifies the node, and its signature confirms it, since the bus is not
// trusted here. Removed, moved and reinstalled nodes have no key here and get nothing.
import { answeredText, askedText, sealKeys } from '@edgeloom/contract/edge/key-box.ts';
import { KeysRequest } from '@edgeloom/contract/edge/messages.ts';
import type { KeysReply } from '@edgeloom/contract/edge/messages.ts';
import { everyNode } from '@edgeloom/contract/subjects.ts';
import type { Pool } from 'pg';
import type { Bus } from '../core/bus.ts';
import type { Secrets } from '../core/secrets.ts';
import { isSignedBy } from '@edgeloom/contract/edge/nats-key.ts';
import { receive } from '../node-link/incoming.ts';
import type { LinkLog } from '../node-link/log.ts';
import type { Trust } from '../core/trust.ts';
import { openRing, ringColumn } from './ring.ts';
import type { RingKey } from './ring.ts';

interface Deps {
  pool: Pool;
  secrets: Pick<Secrets, 'open'>;
  trust: Pick<Trust, 'sign'>;
}

export const answerKeyQuestions = (bus: Bus, log: LinkLog, parts: Deps): void =>
  receive(bus, log, {
    subject: everyNode.keys,
    schema: KeysRequest,
    handle: (nodeId, request) => giveKeys(parts, nodeId, request),
  });

/** Null for an unknown node. */
async function giveKeys(
  { pool, secrets, trust }: Deps,
  nodeId: string,
  { box, signature }: KeysRequest,
): Promise<KeysReply | null> {
  const { rows } = await pool.query<{ publicKey: string; zoneId: string; ring: RingKey[] }>(
    `SELECT n.public_key AS "publicKey", z.id AS "zoneId", ${ringColumn} AS ring
     FROM nodes n JOIN zones z ON z.id = n.zone_id
     WHERE n.id = $1 AND n.public_key IS NOT NULL AND NOT EXISTS (SELECT FROM revoked_keys r WHERE r.public_key = n.public_key)`,
    [nodeId],
  );
  const [node] = rows;
  if (node === undefined || !isSigned(node.publicKey, askedText(nodeId, box), signature)) return null;
  const answer = sealKeys(openRing(secrets, node.zoneId, node.ring), nodeId, box);
  const mark = trust.sign(answeredText(nodeId, box, answer));
  return { ...answer, signature: Buffer.from(mark).toString('base64') };
}

function isSigned(publicKey: string, text: string, signature: string): boolean {
  try {
    return isSignedBy(publicKey, text, Buffer.from(signature, 'base64'));
  } catch {
    return false;
  }
}
