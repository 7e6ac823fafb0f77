// A monitor's identity. It belongs to no zone, so it has no zone keys.
import { mkdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { MonitorJoinReply } from '@edgeloom/contract/edge/monitors.ts';
import { newUserSeed, openNatsKey } from '@edgeloom/contract/edge/nats-key.ts';
import type { Identity } from '../link/identity.ts';
import { sendJoin } from '../link/join.ts';
import type { Invitation } from '../link/join.ts';
import { writeWhole } from '../store/durable.ts';

export type MonitorIdentity = Omit<Identity, 'zoneID'>;

const filesIn = (dir: string) => ({
  node: path.join(dir, 'node.json'),
  keys: path.join(dir, 'keys'),
  seed: path.join(dir, 'keys/node.seed'),
  joining: path.join(dir, 'keys/joining.seed'),
});

/** Null before it has joined. The credentials are in the file with the seed, readable by root only. */
export async function readMonitorIdentity(dir: string): Promise<MonitorIdentity | null> {
  const { node, seed } = filesIn(dir);
  const stored = await readFile(node, 'utf8').catch(() => null);
  if (stored === null) return null;
  return { ...MonitorJoinReply.parse(JSON.parse(stored)), seed: await readFile(seed) };
}

/** A join that was interrupted repeats with the same key, and gets the same response. */
export async function joinAsMonitor(
  dir: string,
  { control, token, version }: Invitation,
  signal: AbortSignal,
): Promise<MonitorIdentity> {
  const { node, keys, seed, joining } = filesIn(dir);
  await mkdir(keys, { recursive: true, mode: 0o700 });
  const begun = await readFile(joining).catch(() => null);
  const fresh = begun ?? newUserSeed();
  if (begun === null) await writeWhole(joining, fresh, 0o600);
  const request = { token, publicKey: openNatsKey(fresh).publicKey, version };
  const identity = MonitorJoinReply.parse(await sendJoin(control, 'monitor/join', request, signal));
  await writeWhole(seed, fresh, 0o600);
  // Written last: it marks the identity complete.
  await writeWhole(node, `${JSON.stringify(identity, null, 2)}\n`, 0o600);
  await rm(joining);
  return { ...identity, seed: fresh };
}
