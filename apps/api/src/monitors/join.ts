// A monitor's first call, by HTTPS: it sends its join token and public key, and receives its NATS identity. It belongs
// to no zone, so it gets no documents and no keys.
import type { MonitorJoinReply, MonitorJoinRequest } from '@edgeloom/contract/edge/monitors.ts';
import { orFail } from '../core/conflict.ts';
import { fail } from '../core/fail.ts';
import type { Installation } from '../core/installation.ts';
import { isUsedKey, natsServersOf, tokenHash } from '../node-link/join.ts';

/** A token is bound to the first key: repeating a join with that key succeeds, another key is refused. */
export async function joinMonitor(
  { db, env, trust }: Installation,
  { token, publicKey, version }: MonitorJoinRequest,
  now: Date,
): Promise<MonitorJoinReply> {
  if (!trust) fail('SELF_CHECK_FAILED');
  const found = await db.monitorNode.findUnique({ where: { joinHash: tokenHash(token) } });
  if (!found?.joinEndsAt || found.joinEndsAt <= now) fail('INVALID_TOKEN');
  if (found.publicKey !== publicKey) {
    if (await isUsedKey(db, publicKey)) fail('INVALID_TOKEN');
    // The second of two concurrent joins finds that the key is set.
    const { id, joinHash } = found;
    const joined = db.monitorNode.updateMany({
      where: { id, joinHash, publicKey: null },
      data: { publicKey, joinedAt: now },
    });
    if ((await orFail('DUPLICATED', joined)).count !== 1) fail('INVALID_TOKEN');
    const state = { version, lastSeenAt: now };
    await db.monitorState.upsert({ where: { monitorId: id }, create: { monitorId: id, ...state }, update: state });
  }
  return { nodeID: found.id, natsServers: natsServersOf(env), jwt: trust.monitorCredentials(publicKey, found.id) };
}
