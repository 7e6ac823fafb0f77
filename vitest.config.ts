import { availableParallelism } from 'node:os';
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// What one process has compiled none compiles again: not the next file of tests, nor any api or agent that a test starts.
process.env['NODE_COMPILE_CACHE'] ??= path.join(import.meta.dirname, '.data/cache/compiled');

/** They take minutes each: begun last, the run would wait for one of them alone. A clean clone has no durations to sort by. */
const longest = [
  'browser/hostile-text',
  'contract/every-endpoint',
  'flows/node-install',
  'flows/benches',
  'flows/agent-faults',
  'browser/zone-settings',
  'flows/node-upgrade',
  'browser/screens',
  'browser/frame',
  'contract/narrowed-callers',
  'browser/api-doc',
  'flows/agent-store',
].map((name) => path.join(import.meta.dirname, `tests/${name}.test.ts`));

const services = ['tests/support/global-setup.ts'];

export default defineConfig({
  test: {
    testTimeout: 90_000,
    hookTimeout: 120_000,
    // What is looked at again until it holds may take its time where everything runs at once.
    expect: { poll: { timeout: 20_000 } },
    // A test waits for others about as long as it works.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: mixed() },
    projects: [
      project('unit', ['{packages/contract,apps/api,agent}/src/**/*.test.ts', '{deploy,prisma}/**/*.test.ts']),
      console(),
      project('contract', ['tests/contract/**/*.test.ts'], services),
      project('api', ['tests/api/**/*.test.ts'], services),
      project('edge', ['tests/edge/**/*.test.ts'], ['tests/support/leftovers-setup.ts']),
      project('flows', ['tests/flows/**/*.test.ts'], services),
      project('browser', ['tests/browser/**/*.test.ts'], services),
    ],
  },
});

/**
 * Node itself loads these, as it does in earnest, and faster than Vite. Files that follow one another in a worker share the modules that it has loaded:
 * loading them anew for each file was half of the CPU time of the project `api`. So no file may change a module for others.
 */
function project(name: string, include: string[], globalSetup: string[] = []) {
  const test = { name, include, globalSetup, experimental: { viteModuleRunner: false }, isolate: false };
  return { extends: true as const, test };
}

/** These are written for Vite: JSX, and files found by pattern. */
function console() {
  return { extends: true as const, test: { name: 'console', include: ['apps/console/src/**/*.test.ts'] } };
}

/**
 * The longest files, then those of all projects in turn, each project's as evenly as it can be. One project after the other would run browsers beside
 * browsers, which work all the time, and later flows beside flows, which wait.
 */
function mixed() {
  return class extends BaseSequencer {
    override async sort(files: TestSpecification[]) {
      const sorted = await super.sort(files);
      const turns = [...Map.groupBy(sorted, (file) => file.project.name).values()].flatMap((ofProject) =>
        ofProject.map((file, i) => ({ file, turn: i / ofProject.length })),
      );
      const place = ({ moduleId }: TestSpecification) => longest.indexOf(moduleId) + 1 || Infinity;
      const mixed = turns.toSorted((a, b) => a.turn - b.turn).map(({ file }) => file);
      return mixed.toSorted((a, b) => (place(a) === place(b) ? 0 : place(a) - place(b)));
    }
  };
}
