import { availableParallelism } from 'node:os';
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// What one process has compiled none compiles again: not the next file of tests, nor any api or agent that a test starts.
process.env['NODE_COMPILE_CACHE'] ??= path.join(import.meta.dirname, '.data/cache/compiled');

/** Tests of the API's modules with a database or with other servers. */
const integrationTests = 'apps/api/src/**/*.integration.test.ts';
const tests = path.join(import.meta.dirname, 'tests');

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
].map((name) => path.join(tests, `${name}.test.ts`));

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
      project('unit', {
        include: ['{packages/contract,apps/api,agent}/src/**/*.test.ts', '{deploy,prisma}/**/*.test.ts'],
        exclude: [integrationTests],
      }),
      console(),
      // One project, because vitest reuses a worker only if the next file is of the same project.
      project('integration', {
        include: ['tests/**/*.test.ts', integrationTests],
        globalSetup: ['tests/support/services/global-setup.ts'],
      }),
    ],
  },
});

/**
 * Node itself loads these, as it does in earnest, and faster than Vite. Files that run in one worker share its loaded modules:
 * loading modules for each file was half of the CPU time of `tests/api`. A test must therefore undo what it changes in a module.
 */
function project(name: string, files: { include: string[]; exclude?: string[]; globalSetup?: string[] }) {
  const test = { name, ...files, experimental: { viteModuleRunner: false }, isolate: false };
  return { extends: true as const, test };
}

/** These are written for Vite: JSX, and files found by pattern. */
function console() {
  // The build's `x.calls.ts` is `x.endpoints.ts` without schemas (apps/console/build/calls.ts).
  const alias = [{ find: /\.calls\.ts$/, replacement: '.endpoints.ts' }];
  const test = { name: 'console', include: ['apps/console/src/**/*.test.ts'] };
  return { extends: true as const, resolve: { alias }, test };
}

/**
 * The longest files, then those of all folders of tests in turn, each folder's as evenly as it can be: one folder after the other would run browsers beside
 * browsers, which work all the time, and later flows beside flows, which wait. The short ones of the other projects fill the end.
 */
function mixed() {
  return class extends BaseSequencer {
    override async sort(files: TestSpecification[]) {
      const sorted = await super.sort(files);
      const [others, integration] = [
        sorted.filter(({ project }) => project.name !== 'integration'),
        sorted.filter(({ project }) => project.name === 'integration'),
      ];
      const byFolder = Map.groupBy(integration, ({ moduleId }) => path.dirname(moduleId));
      const turns = [...byFolder.values()].flatMap((ofFolder) =>
        ofFolder.map((file, i) => ({ file, turn: i / ofFolder.length })),
      );
      const place = ({ moduleId }: TestSpecification) => longest.indexOf(moduleId) + 1 || Infinity;
      const inTurn = turns.toSorted((a, b) => a.turn - b.turn).map(({ file }) => file);
      return [...inTurn.toSorted((a, b) => (place(a) === place(b) ? 0 : place(a) - place(b))), ...others];
    }
  };
}
