import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { namedCasesOfRun } from '../tests/support/builders/long-run.ts';
import { explainErrors } from './explain-errors.ts';
import { describeError } from './test-report.ts';
import { runEachAlone, runWithSecondTry, type TestRunOptions } from './test-runs.ts';

// Inside the repository, so that the generated files can import vitest.
const data = path.join(import.meta.dirname, '../.data');
let root: string;

beforeEach(async () => {
  await mkdir(data, { recursive: true });
  root = await mkdtemp(path.join(data, 'test-runs-'));
  await writeConfig({ maxWorkers: 3 });
});
afterEach(() => rm(root, { recursive: true }));

/** Writes a configuration whose workers share modules between files, as in vitest.config.ts. */
function writeConfig(options: object) {
  const config = { include: ['*.test.mjs'], isolate: false, experimental: { viteModuleRunner: false }, ...options };
  return writeFile(path.join(root, 'vitest.config.mjs'), `export default ${JSON.stringify({ test: config })};\n`);
}

/** Writes a test file. Its constant `isFirst` is true until the file has run once. */
const writeTestFile = (name: string, body: string) =>
  writeFile(
    path.join(root, `${name}.test.mjs`),
    `import { existsSync, writeFileSync } from 'node:fs';
     import { afterAll, beforeAll, expect, test } from 'vitest';
     const isFirst = !existsSync(${JSON.stringify(path.join(root, name))});
     writeFileSync(${JSON.stringify(path.join(root, name))}, '');
     ${body}\n`,
  );

/** The inner vitest must not inherit the variables of the vitest that runs this test. */
const outerVariables = (name: string) => name.startsWith('VITEST');
function optionsOfRun(): TestRunOptions {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !outerVariables(name)));
  return { root, folder: path.join(root, 'reports'), env, isQuiet: true };
}

async function run(options: Partial<TestRunOptions> = {}) {
  const { passed, errors, flaky } = await runWithSecondTry({ ...optionsOfRun(), ...options });
  return { passed, errors: errors.map(describeError).toSorted(), flaky: flaky.map(describeError).toSorted() };
}

describe('an error that does not occur again is flaky', () => {
  const kinds: Record<string, [body: string, error: RegExp]> = {
    'of an assertion': [
      `test('b', () => expect(isFirst, 'too early').toBe(false));`,
      /^a\.test\.mjs > b, first error: AssertionError: too early/,
    ],
    'of a hook': [
      `beforeAll(() => { if (isFirst) throw new Error('no database'); }); test('b', () => {});`,
      /^a\.test\.mjs, first error: Error: no database$/,
    ],
    'while the file loads': [
      `if (isFirst) throw new Error('does not load'); test('b', () => {});`,
      /^a\.test\.mjs, first error: Error: does not load$/,
    ],
    'of a promise that nothing awaits': [
      `test('b', () => { if (isFirst) void Promise.reject(new Error('lost', { cause: new Error('refused') })); });`,
      /^a\.test\.mjs, first error: Error: refused$/,
    ],
    'whose cause is a text': [
      `test('b', () => { if (isFirst) void Promise.reject(new Error('lost', { cause: 'refused' })); });`,
      /^a\.test\.mjs, first error: refused$/,
    ],
    'of a killed worker': [
      `test('b', () => { if (isFirst) process.kill(process.pid, 'SIGKILL'); });`,
      /^a\.test\.mjs, first error: Error: Worker exited unexpectedly/,
    ],
  };
  // A later test has a failing hook. An error whose cause is a text differs only in its description.
  const ofRun = ['of an assertion', 'while the file loads', 'of a promise that nothing awaits', 'of a killed worker'];
  test.each(namedCasesOfRun(kinds, ofRun))('%s', async (_case, [body, error]) => {
    await writeTestFile('a', body);
    await writeTestFile('another', `test('c', () => {}); test.skip('d', () => {});`);
    expect(await run()).toEqual({ passed: 2, errors: [], flaky: [expect.stringMatching(error)] });
  });
});

test('errors of both tries fail the run', async () => {
  await writeTestFile('assertion', `test('b', () => expect(1).toBe(2)); test('c', () => {});`);
  await writeTestFile('import', `throw new Error('does not load');`);
  expect(await run()).toEqual({
    passed: 1,
    errors: [
      expect.stringMatching(/^assertion\.test\.mjs > b, first error: AssertionError: expected 1 to be 2/),
      'import.test.mjs, first error: Error: does not load',
    ],
    flaky: [],
  });
});

test('a test or a file that fails on the second try only is flaky', async () => {
  await writeTestFile(
    'a',
    `afterAll(() => { if (!isFirst) throw new Error('not closed'); });
     test('b', () => expect(isFirst).toBe(false));
     test('c', () => expect(isFirst).toBe(true));`,
  );
  expect(await run()).toEqual({
    passed: 2,
    errors: [],
    flaky: [
      expect.stringContaining('a.test.mjs > b'),
      expect.stringContaining('a.test.mjs > c'),
      'a.test.mjs, first error: Error: not closed',
    ],
  });
});

describe('with the runner that keeps logs', () => {
  const supportFolder = path.join(import.meta.dirname, '../tests/support/services');
  beforeEach(() => writeConfig({ runner: path.join(supportFolder, 'keep-logs.ts') }));

  /** Writes a test file with `start(text)`, which stands for a program that logs `text`. */
  const writeFileWithPrograms = (name: string, body: string) =>
    writeTestFile(
      name,
      `import { mkdirSync, rmSync } from 'node:fs';
       import { describe } from 'vitest';
       import { testDir } from '${supportFolder}/test-dir.ts';
       async function start(text) {
         const dir = await testDir();
         mkdirSync(dir + '/logs');
         writeFileSync(dir + '/logs/error.log', text);
         writeFileSync(dir + '/empty.log', '');
         return dir;
       }
       const stop = (dir) => rmSync(dir, { recursive: true });
       ${body}`,
    );
  /** The lines that a run prints about its errors. */
  async function explainRun() {
    const { errors } = await runWithSecondTry(optionsOfRun());
    return explainErrors(errors, path.join(root, 'reports'));
  }

  test('logs of programs that run when a test fails are kept, and those of the run before are deleted', async () => {
    await mkdir(path.join(root, 'reports/tests/of-the-run-before'), { recursive: true });
    await writeFileWithPrograms(
      'a',
      `const dir = await start('first line\\nno upstream');
       afterAll(() => stop(dir));
       test('b', () => expect(1).toBe(2));
       test('c', async () => stop(await start('of a test that passes')));`,
    );
    expect(await explainRun()).toEqual([
      'failed: a.test.mjs > b, first error: AssertionError: expected 1 to be 2 // Object.is equality',
      expect.stringMatching(/^ {6}at .*a\.test\.mjs/),
      expect.stringMatching(/^ {2}\S+\/a\.test\.mjs\/\S+-b\/\S+-logs-error\.log:$/),
      '    first line',
      '    no upstream',
    ]);
    expect(await readdir(path.join(root, 'reports'))).not.toContain('tests');
  });

  test.each([
    [
      'a beforeAll',
      `let dir;
       beforeAll(async () => { dir = await start('port is taken'); throw new Error('no answer'); });
       afterAll(() => stop(dir));
       test('b', () => {});`,
    ],
    [
      'a beforeAll of a suite, beside a program of the file',
      `const dir = await start('port is taken');
       afterAll(() => stop(dir));
       describe('c', () => { beforeAll(() => { throw new Error('no answer'); }); test('b', () => {}); });`,
    ],
    ['an import', `await start('port is taken'); throw new Error('no answer'); test('b', () => {});`],
  ])('logs are kept when %s fails', async (_case, body) => {
    await writeFileWithPrograms('a', body);
    expect(await explainRun()).toEqual([
      'failed: a.test.mjs, first error: Error: no answer',
      expect.stringMatching(/^ {6}at .*a\.test\.mjs/),
      expect.stringMatching(/^ {2}\S+\/a\.test\.mjs\/\S+-logs-error\.log:$/),
      '    port is taken',
    ]);
  });

  test('logs are kept before afterEach deletes them, once for a test in a suite', async () => {
    await writeFileWithPrograms(
      'a',
      `import { afterEach, beforeEach } from 'vitest';
       describe('c', () => {
         let dir;
         beforeEach(async () => { dir = await start('port is taken'); });
         afterEach(() => stop(dir));
         test('b', () => expect(1).toBe(2));
       });`,
    );
    expect(await explainRun()).toContain('    port is taken');
  });
});

test('more than five failed files get no second try', async () => {
  for (let i = 1; i <= 6; i += 1) await writeTestFile(`file${i}`, `test('x', () => expect(isFirst).toBe(false));`);
  expect(await run()).toMatchObject({ passed: 0, errors: { length: 6 }, flaky: [] });
});

test('without a second try, a flaky test fails the run', async () => {
  await writeTestFile('a', `test('b', () => expect(isFirst).toBe(false));`);
  expect(await run({ hasSecondTry: false })).toMatchObject({ passed: 0, errors: { length: 1 }, flaky: [] });
});

test('files that did not run because of a killed worker run on the second try', async () => {
  await writeConfig({ maxWorkers: 1 });
  // The order is unknown. The first file that runs kills its worker.
  const mark = JSON.stringify(path.join(root, 'killed'));
  const kill = `if (!existsSync(${mark})) { writeFileSync(${mark}, ''); process.kill(process.pid, 'SIGKILL'); }`;
  for (const name of ['a', 'b', 'c']) await writeTestFile(name, `test('x', () => { ${kill} });`);
  expect(await run()).toMatchObject({ passed: 3, errors: [], flaky: { length: 3 } });
});

test('the second try has the options of the first', async () => {
  await writeTestFile('a', `test('b', () => expect(isFirst).toBe(false)); test('c', () => expect(1).toBe(2));`);
  expect(await run({ args: ['-t', 'b'] })).toMatchObject({ passed: 1, errors: [], flaky: { length: 1 } });
});

test('a run without a report fails', async () => {
  await writeFile(path.join(root, 'vitest.config.mjs'), 'throw new Error("no configuration");\n');
  expect(await run()).toEqual({
    passed: 0,
    errors: ['the run, first error: vitest exited with code 1 and without a report'],
    flaky: [],
  });
});

test('a file that runs alone is named by its whole path', async () => {
  await writeTestFile('purge', `test('x', () => expect(1).toBe(2));`);
  expect(await runEachAlone(optionsOfRun(), ['purge'])).toEqual({
    files: [],
    errors: ['no test file has the path purge'],
  });
});
