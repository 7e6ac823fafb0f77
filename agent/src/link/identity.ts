// Who this node is. The seed is made here and never sent; node.json is written last and means that all of it is there.
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { JoinReply } from '@edgeloom/contract/edge/messages.ts';
import { nkeys } from 'nats';
import type * as z from 'zod';
import type { Layout } from '../layout.ts';
import { writeWhole } from '../store/durable.ts';
import { storeZoneKey, storeZoneKeys } from '../store/zone-keys.ts';

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

/** The public half of the key to join with: that of a join that was cut off, or of a new one. */
export async function prepareKey(layout: Layout): Promise<string> {
  const { joining, seed } = places(layout);
  const [begun, own] = await Promise.all([joining, seed].map((file) => readFile(file).catch(() => null)));
  // One that got as far as to be ours was not cut off; whoever joins again needs another key, for the old one is revoked.
  const isOver = begun != null && own != null && begun.equals(own) && (await readIdentity(layout)) !== null;
  if (begun != null && !isOver) return nkeys.fromSeed(begun).getPublicKey();
  const pair = nkeys.createUser();
  await writeWhole(joining, pair.getSeed(), 0o600);
  return pair.getPublicKey();
}

/** Takes the place of what the node was before. Until the answer is here that stays: a token may be refused. */
export async function storeIdentity(layout: Layout, reply: JoinReply): Promise<void> {
  const place = places(layout);
  await rm(place.node, { force: true });
  if (reply.zoneKeys === undefined) await storeZoneKey(layout.keys, reply.zoneKey);
  else await storeZoneKeys(layout.keys, reply.zoneKeys);
  await writeWhole(place.jwt, reply.jwt, 0o600);
  await writeWhole(place.seed, await readFile(place.joining), 0o600);
  const { nodeID, zoneID, natsServers } = reply;
  await writeWhole(place.node, `${JSON.stringify({ nodeID, zoneID, natsServers }, null, 2)}\n`, 0o640);
  await rm(place.joining);
}
