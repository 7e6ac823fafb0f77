// Continues changes of zone keys. Runs in every process, one process per zone at a time.
import type { FastifyBaseLogger } from 'fastify';
import type { Installation } from '../core/installation.ts';
import { repeat } from '../node-link/repeat.ts';
import { linkOf } from '../node-link/start.ts';
import { stepZone, zonesInChange } from '../zone-keys/change.ts';

const LOOK_EVERY_MS = 500;
/** Then other zones get a turn. */
const STEPS = 20;

export function startZoneKeys(installation: Installation, log: Pick<FastifyBaseLogger, 'info' | 'warn' | 'error'>) {
  const asked = new Set<string>();
  const ask = async (nodeId: string) => {
    if (asked.has(nodeId)) return;
    asked.add(nodeId);
    // The node responds when it has the key. Only the following heartbeat counts.
    await linkOf(installation)?.order(nodeId, { name: 'zoneKeys' });
    asked.delete(nodeId);
  };
  const notify = (nodeIds: readonly string[]) => {
    for (const nodeId of nodeIds) void ask(nodeId);
  };
  const engine = { pool: installation.pool, secrets: installation.secrets, notify };
  return repeat(
    async () => {
      for (const zoneId of await zonesInChange(installation.pool)) {
        let steps = 0;
        while (steps < STEPS && (await stepZone(engine, zoneId))) steps += 1;
      }
    },
    LOOK_EVERY_MS,
    log,
    "changes of zones' keys were not carried on; they are tried again",
  );
}
