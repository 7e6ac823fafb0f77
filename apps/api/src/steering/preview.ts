// DNS answers of a zone's groups, now or after changes, computed from stored facts for pages.
import type { Installation } from '../core/installation.ts';
import { withParents } from './node-health.ts';
import { steer, type Steered, type World } from './steer.ts';
import { readWorld } from './world.ts';

/** The caller has checked access to the zone. */
export async function seenIn({ pool }: Pick<Installation, 'pool'>, zoneId: string): Promise<World> {
  const world = await readWorld(pool, zoneId);
  return { ...world, standings: withParents(world.nodes, world.before) };
}

export const steered = (world: World, now: Date): Map<string, Steered> =>
  new Map(
    [...world.groups.keys()].flatMap((id) => {
      const result = steer(world, id, now);
      return result ? [[id, result]] : [];
    }),
  );
