// The zone's certificate, where nginx reads it. Renewed when the zone's key changes. During a change of keys the file
// also has the certificates of the other keys: this node presents the first and accepts each.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { writeWhole } from '../store/durable.ts';
import { readZoneKeys } from '../store/zone-keys.ts';
import { zonePair } from './self-signed.ts';

export async function storeZonePair(dir: string): Promise<void> {
  const keys = path.join(dir, 'keys');
  const pairs = (await readZoneKeys(keys)).map(({ id, key }) => zonePair(key, id));
  const [own] = pairs;
  if (own === undefined) return;
  for (const [name, text] of [
    ['relay.key', own.key],
    ['relay.pem', pairs.map(({ cert }) => cert).join('')],
  ] as const) {
    const file = path.join(keys, name);
    if ((await readFile(file, 'utf8').catch(() => null)) !== text) await writeWhole(file, text, 0o600);
  }
}
