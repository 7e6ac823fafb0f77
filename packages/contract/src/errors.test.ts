import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { errors } from './errors.ts';

const root = path.join(import.meta.dirname, '../../..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const sources = globSync('apps/api/src/**/*.ts', { cwd: root, exclude: ['**/*.test.ts', '**/generated/**'] })
  .map(read)
  .join('\n');

test('each code of the catalogue is raised by the API, or docs/decisions.md says why not', () => {
  // 101001 is the code of success.
  const raised = Object.entries(errors).flatMap(([name, { code }]) => (sources.includes(`'${name}'`) ? [code] : []));
  const codes = [...new Set(Object.values(errors).map(({ code }) => code))];
  const unraised = codes.filter((code) => !raised.includes(code));
  const [, section = ''] = read('docs/decisions.md').split('## Error codes that nothing raises yet');
  const documented = [...(section.split('\n## ')[0]?.matchAll(/^\| (\d+) /gm) ?? [])].map(([, code]) => Number(code));
  expect(documented.toSorted()).toEqual([101_001, ...unraised].toSorted());
});
