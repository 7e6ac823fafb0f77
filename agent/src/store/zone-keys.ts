// The zone's keys on disk. `zone.key` has only the current one, for earlier versions of the agent. `zone.keys` has all,
// one line each: id and key. If `zone.keys` lacks the key in `zone.key`, an earlier version has joined since, and
// `zone.keys` is obsolete.
import { createDecipheriv } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { FIRST_KEY, KeyID } from '@edgeloom/contract/edge/sealed.ts';
import type { Sealed, ZoneKeys } from '@edgeloom/contract/edge/sealed.ts';
import { writeWhole } from './durable.ts';

export interface ZoneKey {
  id: KeyID;
  key: Buffer;
}

/** The current key first. Empty before the node has joined. */
export async function readZoneKeys(keys: string): Promise<ZoneKey[]> {
  const [single, all] = await Promise.all(
    ['zone.key', 'zone.keys'].map((name) => readFile(path.join(keys, name), 'utf8').catch(() => '')),
  );
  const current = single?.trim() ?? '';
  if (current === '') return [];
  const lines = (all ?? '').split('\n').filter((line) => line !== '');
  const held = lines.flatMap((line) => {
    const [name, key = ''] = line.split(' ');
    const id = KeyID.safeParse(name);
    return id.success ? [{ id: id.data, key }] : [];
  });
  const counts = held.some(({ key }) => key === current) ? held : [{ id: KeyID.parse(FIRST_KEY), key: current }];
  return counts.map(({ id, key }) => ({ id, key: Buffer.from(key, 'base64') }));
}

/** A kill in between may leave old files, but no held key is lost. */
export async function storeZoneKeys(keys: string, held: ZoneKeys): Promise<void> {
  const [current] = held;
  if (current === undefined) throw new Error('a node without a key of its zone');
  await writeWhole(path.join(keys, 'zone.keys'), held.map(({ id, key }) => `${id} ${key}\n`).join(''), 0o600);
  await writeWhole(path.join(keys, 'zone.key'), current.key, 0o600);
}

/** For a control plane that knows a single key. */
export async function storeZoneKey(keys: string, key: string): Promise<void> {
  await rm(path.join(keys, 'zone.keys'), { force: true });
  await writeWhole(path.join(keys, 'zone.key'), key, 0o600);
}

/** The counterpart of agent/lua/edge/tls/unseal.lua. Throws where no key fits. */
export function openSealed(
  held: readonly ZoneKey[],
  { iv, data, tag, keyID = FIRST_KEY }: Sealed,
  boundTo: string,
): string {
  const found = held.find(({ id }) => id === keyID) ?? held[0];
  if (found === undefined) throw new Error('no key of the zone is here');
  const bytes = (text: string) => Buffer.from(text, 'base64');
  const decipher = createDecipheriv('aes-256-gcm', found.key, bytes(iv), { authTagLength: 16 });
  decipher.setAAD(Buffer.from(boundTo)).setAuthTag(bytes(tag));
  return Buffer.concat([decipher.update(bytes(data)), decipher.final()]).toString();
}
