import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { openRun } from './tests/support/services/runs.ts';
import { menuWords } from './apps/console/build/menu-words.ts';

// All processes share one compile cache: test files, and each api and agent that a test starts.
process.env['NODE_COMPILE_CACHE'] ??= path.join(import.meta.dirname, '.data/cache/compiled');

// Other programs read this file, too.
if (process.env['VITEST'] !== undefined) await openRun();

/** Tests of the API's modules with a database or with other servers. */
const integrationTests = 'apps/api/src/**/*.integration.test.ts';
const tests = path.join(import.meta.dirname, 'tests');
/** Files that only `npm run test:long` runs, or a command that names one. */
const longTests = 'tests/**/*.long.test.ts';
const runsLongTests =
  process.env['EDGELOOM_LONG_TESTS'] === '1' || process.argv.some((argument) => argument.includes('.long.test'));

/** The slowest files of a run start first. A clean clone has no durations to sort by. */
const longest = [
  'contract/every-endpoint',
  'browser/screens',
  'browser/zone-settings',
  'browser/rules-at-the-edge',
  'flows/steering',
  'flows/node-upgrade',
  'flows/node-install',
  'flows/agent-faults',
  'flows/zone-settings',
  'contract/narrowed-callers',
  'flows/zone-keys',
  'flows/agent',
].map((name) => {
  const file = path.join(tests, `${name}.test.ts`);
  if (!existsSync(file)) throw new Error(`${file} does not exist (in the list of the longest files)`);
  return file;
});

export default defineConfig({
  test: {
    testTimeout: 90_000,
    hookTimeout: 120_000,
    // Polling takes longer while many files run. Each poll of a page costs CPU time of two processes.
    expect: { poll: { timeout: 20_000, interval: 100 } },
    maxWorkers: availableParallelism() + (hasFastPageFaults() ? 2 : 0),
    // Concurrent tests wait for timeouts. A file waits once if all of its tests wait together.
    maxConcurrency: 10,
    sequence: { sequencer: mixed() },
    projects: [
      project('unit', {
        include: ['{packages/contract,packages/cli,apps/api,agent}/src/**/*.test.ts', '{deploy,prisma}/**/*.test.ts'],
        exclude: [integrationTests],
      }),
      console(),
      // One project, because vitest reuses a worker only if the next file is of the same project.
      project('integration', {
        include: ['tests/**/*.test.ts', integrationTests],
        exclude: runsLongTests ? [] : [longTests],
        globalSetup: ['tests/support/services/global-setup.ts'],
        runner: 'tests/support/services/keep-logs.ts',
      }),
    ],
  },
});

/**
 * Tests wait for other processes about as long as they compute, so more files than processors run at once. Not where
 * the hypervisor handles page faults in software, at 20 µs each in place of one or less: programs that start and
 * allocate then keep all processors busy. CPU time is compared, which other programs hardly change.
 */
function hasFastPageFaults() {
  const [bytes, pageBytes, slowMicroseconds] = [64 << 20, 4096, 8];
  const before = process.cpuUsage();
  Buffer.allocUnsafe(bytes).fill(1);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / (bytes / pageBytes) < slowMicroseconds;
}

/**
 * Node loads these files as in production, faster than Vite. Files of one worker share its modules: loading them
 * for each file took half of the CPU time of `tests/api`. Tests therefore undo their changes to modules.
 */
interface ProjectFiles {
  include: string[];
  exclude?: string[];
  globalSetup?: string[];
  runner?: string;
}
function project(name: string, files: ProjectFiles) {
  const test = { name, ...files, experimental: { viteModuleRunner: false }, isolate: false };
  return { extends: true as const, test };
}

/** These files need Vite for JSX and `import.meta.glob`. */
function console() {
  // The build's `x.calls.ts` is `x.endpoints.ts` without schemas (apps/console/build/calls.ts).
  const alias = [{ find: /\.calls\.ts$/, replacement: '.endpoints.ts' }];
  const test = { name: 'console', include: ['apps/console/src/**/*.test.ts'] };
  return { extends: true as const, plugins: [menuWords()], resolve: { alias }, test };
}

/**
 * The longest files first, then files of all folders, evenly mixed: browser tests keep the CPU busy while flows
 * mostly wait. Short files of the other projects fill the end.
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
      const byLength = inTurn.toSorted((a, b) => (place(a) === place(b) ? 0 : place(a) - place(b)));
      // The agent's own tests wait for programs, so none of them is the last file of a run.
      const ofAgent = (file: TestSpecification) => (file.moduleId.includes('/agent/src/') ? 0 : 1);
      return [...byLength, ...others.toSorted((a, b) => ofAgent(a) - ofAgent(b))];
    }
  };
}
