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
const comment = /^\s*(?:\/\/|\/?\*).*$/gm;

const namesIn = (text: string) => Array.from(text.matchAll(testName), ([name]) => name);
const testsAt = (name: string) => tests.filter((file) => `/${file}`.endsWith(`/${name}`));

test('each test that a comment names exists beside the comment, or only once', () => {
  const sources = files.filter((file) => /^(?:agent|apps|deploy|packages|prisma|tests)\/.*\.tsx?$/.test(file));
  const named = sources.flatMap((file) => {
    const comments = readFileSync(path.join(root, file), 'utf8').match(comment) ?? [];
    return namesIn(comments.join('\n')).map((name) => ({ file, name }));
  });
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
