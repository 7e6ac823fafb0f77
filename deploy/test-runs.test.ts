import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { describeFailure } from './test-report.ts';
import { runWithSecondTry } from './test-runs.ts';

// Inside the project, so that the files find vitest.
const data = path.join(import.meta.dirname, '../.data');
let root: string;

beforeEach(async () => {
  await mkdir(data, { recursive: true });
  root = await mkdtemp(path.join(data, 'test-runs-'));
  await configure({ maxWorkers: 3 });
});
afterEach(() => rm(root, { recursive: true }));

/** As in vitest.config.ts, files of one worker share its modules. */
function configure(options: object) {
  const config = { include: ['*.test.mjs'], isolate: false, experimental: { viteModuleRunner: false }, ...options };
  return writeFile(path.join(root, 'vitest.config.mjs'), `export default ${JSON.stringify({ test: config })};\n`);
}

/** A file whose first run leaves a mark. `isFirst` is true in that run. */
const file = (name: string, body: string) =>
  writeFile(
    path.join(root, `${name}.test.mjs`),
    `import { existsSync, writeFileSync } from 'node:fs';
     import { afterAll, beforeAll, expect, test } from 'vitest';
     const isFirst = !existsSync(${JSON.stringify(path.join(root, name))});
     writeFileSync(${JSON.stringify(path.join(root, name))}, '');
     ${body}\n`,
  );

async function run(options = {}) {
  // This test runs in vitest, too, whose variables are those of its own run.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST')));
  const result = await runWithSecondTry(
    { root, folder: path.join(root, 'reports'), args: [], env, isQuiet: true },
    options,
  );
  const describeAll = (failures: typeof result.failures) => failures.map(describeFailure).toSorted();
  return { ...result, failures: describeAll(result.failures), secondTries: describeAll(result.secondTries) };
}

test('what passes on the second try counts as passed, whatever failed first', async () => {
  await file('good', `test('one', () => {}); test.skip('two', () => {});`);
  await file('sometimes', `test('a', () => {}); test('b', () => expect(isFirst, 'too early').toBe(false));`);
  await file('hook', `beforeAll(() => { if (isFirst) throw new Error('no database'); }); test('c', () => {});`);
  await file('import', `if (isFirst) throw new Error('does not load'); test('d', () => {});`);
  await file(
    'stray',
    `test('e', () => { if (isFirst) void Promise.reject(new Error('not awaited', { cause: new Error('refused') })); });`,
  );
  await file('crash', `test('f', () => { if (isFirst) process.kill(process.pid, 'SIGKILL'); });`);
  const { passed, failures, secondTries } = await run();
  expect(failures).toEqual([]);
  expect(secondTries).toEqual([
    expect.stringMatching(/^crash\.test\.mjs, first error: Error: .*Worker exited unexpectedly/),
    'hook.test.mjs, first error: Error: no database',
    'import.test.mjs, first error: Error: does not load',
    expect.stringMatching(/^sometimes\.test\.mjs > b, first error: AssertionError: too early/),
    expect.stringMatching(/^stray\.test\.mjs, first error: Error: refused/),
  ]);
  expect(passed).toBe(7);
});

test('what fails twice fails the run, also next to tests that passed on the second try', async () => {
  await file(
    'both',
    `test('never', () => expect(1).toBe(2)); test('later', () => expect(isFirst).toBe(false));
     test('earlier', () => expect(isFirst).toBe(true));`,
  );
  await file('broken', `throw new Error('does not load');`);
  const { passed, failures, secondTries } = await run();
  expect(failures).toEqual([
    expect.stringContaining('both.test.mjs > never, first error: AssertionError: expected 1 to be 2'),
    'broken.test.mjs, first error: Error: does not load',
  ]);
  expect(secondTries).toEqual([
    expect.stringContaining('both.test.mjs > earlier'),
    expect.stringContaining('both.test.mjs > later'),
  ]);
  expect(passed).toBe(2);
});

test('more than five failed files get no second try, nor does a run with failed checks', async () => {
  for (let i = 1; i <= 6; i += 1) await file(`file${i}`, `test('x', () => expect(isFirst).toBe(false));`);
  expect(await run()).toMatchObject({ passed: 0, failures: { length: 6 }, secondTries: [] });
  for (let i = 1; i <= 6; i += 1) await rm(path.join(root, `file${i}`));
  for (let i = 2; i <= 6; i += 1) await rm(path.join(root, `file${i}.test.mjs`));
  expect(await run({ allowSecondTry: false })).toMatchObject({ failures: { length: 1 }, secondTries: [] });
});

test('files that a crashed worker left out run on the second try', async () => {
  await configure({ maxWorkers: 1 });
  // The order of the files is unknown, so whichever runs first crashes.
  const mark = JSON.stringify(path.join(root, 'crashed'));
  const crash = `if (!existsSync(${mark})) { writeFileSync(${mark}, ''); process.kill(process.pid, 'SIGKILL'); }`;
  for (const name of ['a', 'b', 'c']) await file(name, `test('x', () => { ${crash} });`);
  expect(await run()).toMatchObject({ passed: 3, failures: [], secondTries: { length: 3 } });
});

test('a run without a report fails', async () => {
  await writeFile(path.join(root, 'vitest.config.mjs'), 'throw new Error("no configuration");\n');
  expect(await run()).toMatchObject({ passed: 0, failures: [expect.stringContaining('without a report')] });
});
