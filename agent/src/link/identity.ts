// The node's identity. The seed is created here and never sent. node.json is written last and marks it complete.
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { JoinReply } from '@edgeloom/contract/edge/messages.ts';
import { FIRST_KEY } from '@edgeloom/contract/edge/sealed.ts';
import { newUserSeed, openNatsKey } from '@edgeloom/contract/edge/nats-key.ts';
import type * as z from 'zod';
import type { Layout } from '../layout.ts';
import { writeWhole } from '../store/durable.ts';
import { storeZoneKeys } from '../store/zone-keys.ts';

const NodeFile = JoinReply.pick({ nodeID: true, zoneID: true, natsServers: true });
export interface Identity extends z.output<typeof NodeFile> {
  jwt: string;
  seed: Uint8Array;
}

const places = ({ dir, keys }: Layout) => ({
  node: path.join(dir, 'node.json'),
  seed: path.join(keys, 'node.seed'),
  joining: path.join(keys, 'joining.seed'),
  jwt: path.join(keys, 'node.jwt'),
});

/** Null before the node has joined. */
export async function readIdentity(layout: Layout): Promise<Identity | null> {
  const place = places(layout);
  const node = await readFile(place.node, 'utf8').catch(() => null);
  if (node === null) return null;
  const [seed, jwt] = await Promise.all([readFile(place.seed), readFile(place.jwt, 'utf8')]);
  return { ...NodeFile.parse(JSON.parse(node)), jwt, seed };
}

/** The public key to join with: the one of an interrupted join, or a new one. */
export async function prepareKey(layout: Layout): Promise<string> {
  const { joining, seed } = places(layout);
  const [begun, own] = await Promise.all([joining, seed].map((file) => readFile(file).catch(() => null)));
  // A finished join was not interrupted. Joining again needs a new key, because the old one is revoked.
  const isOver = begun != null && own != null && begun.equals(own) && (await readIdentity(layout)) !== null;
  if (begun != null && !isOver) return openNatsKey(begun).publicKey;
  const fresh = newUserSeed();
  await writeWhole(joining, fresh, 0o600);
  return openNatsKey(fresh).publicKey;
}

/** Replaces the former identity. It stays valid until the response arrives, since a token may be refused. */
export async function storeIdentity(layout: Layout, reply: JoinReply): Promise<void> {
  const place = places(layout);
  await rm(place.node, { force: true });
  await storeZoneKeys(layout.keys, reply.zoneKeys ?? [{ id: FIRST_KEY, key: reply.zoneKey }]);
  await writeWhole(place.jwt, reply.jwt, 0o600);
  await writeWhole(place.seed, await readFile(place.joining), 0o600);
  const { nodeID, zoneID, natsServers } = reply;
  await writeWhole(place.node, `${JSON.stringify({ nodeID, zoneID, natsServers }, null, 2)}\n`, 0o640);
  await rm(place.joining);
}
