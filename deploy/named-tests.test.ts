import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.join(import.meta.dirname, '..');
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => existsSync(path.join(root, file)));
const tests = files.filter((file) => /\.test\.tsx?$/.test(file));

/** A file of tests, with some folders of its path or none. Patterns such as *.long.test.ts are no names. */
const testName = /(?<![*\w./-])\w[\w./-]*\.test\.tsx?\b/g;
/** Comments by the names of files. A comment may stand behind code and in JSX, and have several lines. */
const languages: { files: RegExp; comment: RegExp }[] = [
  // A glob such as 'tests/*/*.ts' begins no comment.
  { files: /\.(?:tsx?|mts|mjs|css|prisma)$/, comment: /\/\/.*$|(?<![\w*./'"`-])\/\*[^]*?\*\//gm },
  { files: /\.lua$/, comment: /--\[\[[^]*?\]\]|--.*$/gm },
  { files: /\.sql$/, comment: /\/\*[^]*?\*\/|--.*$/gm },
  { files: /\.(?:sh|ya?ml)$|Dockerfile/, comment: /#.*$/gm },
];
const commentOf = (file: string) => languages.find(({ files: pattern }) => pattern.test(file))?.comment;

const namesIn = (text: string) => Array.from(text.matchAll(testName), ([name]) => name);
const namesInComments = (file: string, text: string) => {
  const comment = commentOf(file);
  return comment === undefined ? [] : namesIn((text.match(comment) ?? []).join('\n'));
};
const testsAt = (name: string) => tests.filter((file) => `/${file}`.endsWith(`/${name}`));

// In parts, because a test below reads this file, too.
const example = ['one', 'test', 'ts'].join('.');
test.each([
  ['on a line of its own', 'a.ts', `// see ${example}`],
  ['behind code', 'a.ts', `run(); // see ${example}`],
  ['above a declaration', 'a.ts', `/**\n * See ${example}.\n */`],
  ['within code', 'a.ts', `run(/* ${example} has the rest */);`],
  ['in JSX', 'a.tsx', `<div>{/* ${example} */}</div>`],
  ['over two lines', 'a.tsx', `<div>{/* the rest is in\n    ${example} */}</div>`],
  ['in Lua', 'a.lua', `local a = 1 -- see ${example}`],
  ['in Lua over two lines', 'a.lua', `--[[ see\n${example} ]]`],
  ['in SQL', 'a.sql', `SELECT 1; -- ${example}`],
  ['in SQL over two lines', 'a.sql', `/* see\n${example} */`],
  ['in a shell script', 'a.sh', `run # ${example}`],
])('a comment %s can name a test', (_, file, text) => {
  expect(namesInComments(file, text)).toEqual([example]);
});

test('a test that only code names is in no comment', () => {
  expect(namesInComments('a.ts', `run('${example}'); // see below`)).toEqual([]);
  expect(namesInComments('a.lua', `run("${example}") -- see below`)).toEqual([]);
  expect(namesInComments('a.ts', `glob('tests/*/*.ts');\nrun('${example}'); /* all */`)).toEqual([]);
});

test('each test that a comment names exists beside the comment, or only once', () => {
  const named = files
    .filter((file) => commentOf(file) !== undefined)
    .flatMap((file) =>
      namesInComments(file, readFileSync(path.join(root, file), 'utf8')).map((one) => ({ file, name: one })),
    );
  expect(named.length).toBeGreaterThan(20);
  const isClear = ({ file, name }: { file: string; name: string }) =>
    tests.includes(path.join(path.dirname(file), name)) || testsAt(name).length === 1;
  expect(named.filter((one) => !isClear(one))).toEqual([]);
});

test('each test that a page of the documentation names exists', () => {
  const pages = files.filter((file) => file.endsWith('.md'));
  const named = pages.flatMap((file) =>
    namesIn(readFileSync(path.join(root, file), 'utf8')).map((name) => ({ file, name })),
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter(({ name }) => testsAt(name).length === 0)).toEqual([]);
});
