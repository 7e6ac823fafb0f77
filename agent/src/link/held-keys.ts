// The zone keys that this node holds on disk and in nginx. nginx reads keys with its configuration, so it has them
// when a change resolves.
import type { ZoneKeys } from '@edgeloom/contract/edge/sealed.ts';
import type { Layout } from '../layout.ts';
import type { Log } from '../log.ts';
import { readZoneKeys, storeZoneKeys } from '../store/zone-keys.ts';
import type { HeldKeys } from './key-follower.ts';

/** More than are ever in use. Beyond it, leftovers of a restored control plane are dropped first. */
const MAX_KEYS = 4;

interface Serving {
  /** Reloads nginx, or throws. */
  refresh: () => Promise<void>;
  isRunning: () => boolean;
}

export function heldKeys({ keys: dir }: Pick<Layout, 'keys'>, nginx: Serving, log: Log): HeldKeys {
  const read = async (): Promise<ZoneKeys> =>
    (await readZoneKeys(dir)).map(({ id, key }) => ({ id, key: key.toString('base64') }));
  const store = async (wanted: ZoneKeys) => {
    const before = await read();
    if (JSON.stringify(wanted) === JSON.stringify(before)) return;
    await storeZoneKeys(dir, wanted);
    try {
      await nginx.refresh();
    } catch (error) {
      // A running nginx must have the new key before documents arrive that need it. A stopped one reads it when it
      // starts.
      if (nginx.isRunning()) {
        await storeZoneKeys(dir, before);
        throw error;
      }
    }
    log.info('the keys of the zone have changed', { keys: wanted.map(({ id }) => id) });
  };
  return {
    ids: async () => (await read()).map(({ id }) => id),
    async take(keys) {
      const others = (await read()).filter(({ id }) => keys.every((one) => one.id !== id));
      await store([...keys, ...others].slice(0, MAX_KEYS));
    },
    async keepOnly(ids) {
      await store((await read()).filter(({ id }) => ids.includes(id)));
    },
  };
}
