// Around each project whose tests start programs and that has no services of its own to start.
import { endLeftovers } from './leftovers.ts';

export async function setup(): Promise<() => Promise<void>> {
  await endLeftovers();
  return endLeftovers;
}
