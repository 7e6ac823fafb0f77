// The certificate of the zone, where nginx reads it: made anew whenever the zone's key is another.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { writeWhole } from '../store/durable.ts';
import { zonePair } from './self-signed.ts';

export async function storeZonePair(dir: string): Promise<void> {
  const keys = path.join(dir, 'keys');
  const zoneKey = await readFile(path.join(keys, 'zone.key'), 'utf8').catch(() => null);
  if (zoneKey === null) return;
  const pair = zonePair(Buffer.from(zoneKey, 'base64'));
  for (const [name, text] of [
    ['relay.key', pair.key],
    ['relay.pem', pair.cert],
  ] as const) {
    const file = path.join(keys, name);
    if ((await readFile(file, 'utf8').catch(() => null)) !== text) await writeWhole(file, text, 0o600);
  }
}
