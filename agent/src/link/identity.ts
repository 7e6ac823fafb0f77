// Who this node is. The seed is made here and never sent; node.json is written last and means that all of it is there.
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { JoinReply } from '@edgeloom/contract/edge/messages.ts';
import { nkeys } from 'nats';
import type * as z from 'zod';
import type { Layout } from '../layout.ts';
import { writeWhole } from '../store/durable.ts';

const NodeFile = JoinReply.pick({ nodeID: true, zoneID: true, natsServers: true });
export interface Identity extends z.output<typeof NodeFile> {
  jwt: string;
  seed: Uint8Array;
}

const places = ({ dir, keys }: Layout) => ({
  node: path.join(dir, 'node.json'),
  seed: path.join(keys, 'node.seed'),
  jwt: path.join(keys, 'node.jwt'),
  zoneKey: path.join(keys, 'zone.key'),
});

/** Null before the node has joined. */
export async function readIdentity(layout: Layout): Promise<Identity | null> {
  const place = places(layout);
  const node = await readFile(place.node, 'utf8').catch(() => null);
  if (node === null) return null;
  const [seed, jwt] = await Promise.all([readFile(place.seed), readFile(place.jwt, 'utf8')]);
  return { ...NodeFile.parse(JSON.parse(node)), jwt, seed };
}

/** The key pair to join with: the one of a join that was interrupted, or a new one. Answers the public half. */
export async function prepareKey(layout: Layout): Promise<string> {
  const { seed: file } = places(layout);
  const known = await readFile(file).catch(() => null);
  if (known !== null) return nkeys.fromSeed(known).getPublicKey();
  const pair = nkeys.createUser();
  await writeWhole(file, pair.getSeed(), 0o600);
  return pair.getPublicKey();
}

/** To become another node the old identity is given up first, so that an interrupted change is a node that has not joined. */
export async function forgetIdentity(layout: Layout): Promise<void> {
  const { node, seed, jwt } = places(layout);
  for (const file of [node, jwt, seed]) await rm(file, { force: true });
}

export async function storeIdentity(layout: Layout, reply: JoinReply): Promise<void> {
  const place = places(layout);
  await writeWhole(place.zoneKey, reply.zoneKey, 0o600);
  await writeWhole(place.jwt, reply.jwt, 0o600);
  const { nodeID, zoneID, natsServers } = reply;
  await writeWhole(place.node, `${JSON.stringify({ nodeID, zoneID, natsServers }, null, 2)}\n`, 0o640);
}
