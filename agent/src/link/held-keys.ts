// The keys of the zone that a node with a disk and an nginx holds. Once a change of them is back, nginx has it: it reads them when it
// reads its configuration.
import type { ZoneKeys } from '@edgeloom/contract/edge/sealed.ts';
import type { Layout } from '../layout.ts';
import type { Log } from '../log.ts';
import { readZoneKeys, storeZoneKeys } from '../store/zone-keys.ts';
import type { HeldKeys } from './key-follower.ts';

/** More than are ever in use at once: what a control plane that was set back has left behind goes first. */
const MOST = 4;

interface Serving {
  /** Brings nginx in line with what is on disk, or throws. */
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
      // One that serves by the former keys must not be given documents that only the others open. One that does not run reads
      // them when it starts.
      if (nginx.isRunning()) {
        await storeZoneKeys(dir, before);
        throw error;
      }
    }
    log.info('the keys of the zone are others', { keys: wanted.map(({ id }) => id) });
  };
  return {
    ids: async () => (await read()).map(({ id }) => id),
    async take(told) {
      const others = (await read()).filter(({ id }) => told.every((one) => one.id !== id));
      await store([...told, ...others].slice(0, MOST));
    },
    async keepOnly(ids) {
      await store((await read()).filter(({ id }) => ids.includes(id)));
    },
  };
}
