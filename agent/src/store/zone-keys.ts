// The zone's keys on disk, in `zone.keys`: one line each with id and key, the current key first.
import { createDecipheriv } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { FIRST_KEY, KeyID } from '@edgeloom/contract/edge/sealed.ts';
import type { Sealed, ZoneKeys } from '@edgeloom/contract/edge/sealed.ts';
import { writeWhole } from './durable.ts';

const FILE = 'zone.keys';

export interface ZoneKey {
  id: KeyID;
  key: Buffer;
}

/** The current key first. Empty before the node has joined. */
export async function readZoneKeys(keys: string): Promise<ZoneKey[]> {
  const text = await readFile(path.join(keys, FILE), 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => {
    const [name, key = ''] = line.split(' ');
    const id = KeyID.safeParse(name);
    return id.success ? [{ id: id.data, key: Buffer.from(key, 'base64') }] : [];
  });
}

export async function storeZoneKeys(keys: string, held: ZoneKeys): Promise<void> {
  if (held.length === 0) throw new Error('the node has no zone key');
  await writeWhole(path.join(keys, FILE), held.map(({ id, key }) => `${id} ${key}\n`).join(''), 0o600);
}

/** The counterpart of agent/lua/edge/tls/unseal.lua. Throws where no key fits. */
export function openSealed(
  held: readonly ZoneKey[],
  { iv, data, tag, keyID = FIRST_KEY }: Sealed,
  boundTo: string,
): string {
  const found = held.find(({ id }) => id === keyID) ?? held[0];
  if (found === undefined) throw new Error('the node has no zone key');
  const bytes = (text: string) => Buffer.from(text, 'base64');
  const decipher = createDecipheriv('aes-256-gcm', found.key, bytes(iv), { authTagLength: 16 });
  decipher.setAAD(Buffer.from(boundTo)).setAuthTag(bytes(tag));
  return Buffer.concat([decipher.update(bytes(data)), decipher.final()]).toString();
}
