// The shared services live as long as the run. Several projects name this file; the first one starts them, the last one
// stops them. The count hangs on the process, because each project loads its own copy of this module.
import type { TestProject } from 'vitest/node';
import { generateClient } from '../../prisma/generate.ts';
import { startServices } from './start-services.ts';

interface Shared {
  users: number;
  started: ReturnType<typeof startServices>;
}

declare global {
  // oxlint-disable-next-line no-var -- a property of globalThis can be declared in no other way
  var edgeloomTestServices: Shared | undefined;
}

async function prepare() {
  await generateClient();
  return startServices();
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const shared = (globalThis.edgeloomTestServices ??= { users: 0, started: prepare() });
  shared.users += 1;
  const { stop, ...services } = await shared.started;
  project.provide('services', services);
  return async () => {
    shared.users -= 1;
    if (shared.users > 0) return;
    globalThis.edgeloomTestServices = undefined;
    await stop();
  };
}
