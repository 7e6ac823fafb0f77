// The certificate of the zone, where nginx reads it: made anew whenever the zone's key is another. While the zone changes its key,
// those of its other keys stand behind it: this node shows the first and takes each of them.
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
