import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.join(import.meta.dirname, '..');
const packages = {
  contract: 'packages/contract/src',
  cli: 'packages/cli/src',
  api: 'apps/api/src',
  agent: 'agent/src',
};
const folders = [...Object.values(packages), 'apps/console/src'];

interface Import {
  file: string;
  isType: boolean;
}

/** Imports that run when a file is loaded; `import()` runs later. */
const statement = /^(?:import|export)\s(type\s)?(?:[^'";]*?\sfrom\s)?'([^']+)'/gm;

const files = new Set(sourceFiles(...folders));
const imports = new Map([...files].map((file) => [file, importsOf(file)]));

function sourceFiles(...of: string[]): string[] {
  const options = { cwd: root, encoding: 'utf8' } as const;
  return execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...of], options)
    .split('\n')
    .filter((file) => /\.tsx?$/.test(file) && existsSync(path.join(root, file)));
}

function namesIn(file: string): { name: string; isType: boolean }[] {
  const text = readFileSync(path.join(root, file), 'utf8');
  return [...text.matchAll(statement)].map(([, type, name = '']) => ({ name, isType: type !== undefined }));
}

function importsOf(file: string): Import[] {
  return namesIn(file).flatMap(({ name, isType }) => {
    const imported = fileOf(file, name);
    return imported === null ? [] : [{ file: imported, isType }];
  });
}

/** Null for packages of others, generated files and styles. */
function fileOf(importer: string, name: string): string | null {
  const [, workspace = '', rest = ''] = /^@edgeloom\/(\w+)\/(.+)$/.exec(name) ?? [];
  const folder = Object.entries(packages).find(([one]) => one === workspace)?.[1];
  if (folder === undefined && !name.startsWith('.')) return null;
  const file = folder === undefined ? path.join(path.dirname(importer), name) : path.join(folder, rest);
  // The console's build makes calls.ts from endpoints.ts.
  return [file, file.replace(/\.calls\.ts$/, '.endpoints.ts')].find((one) => files.has(one)) ?? null;
}

/** The files of each cycle's first round, found by depth-first search. */
function cycles(start: readonly string[], isFollowed: (one: Import) => boolean): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const open: string[] = [];
  const visit = (file: string) => {
    if (open.includes(file)) found.push([...open.slice(open.indexOf(file)), file].join(' → '));
    if (open.includes(file) || done.has(file)) return;
    open.push(file);
    for (const one of imports.get(file) ?? []) if (isFollowed(one)) visit(one.file);
    open.pop();
    done.add(file);
  };
  start.forEach(visit);
  return found;
}

test('no file imports itself through others at run time', () => {
  expect(cycles([...files], ({ isType }) => !isType)).toEqual([]);
});

test('no file imports itself through others for a type', () => {
  expect(cycles([...files], () => true)).toEqual([]);
});

test.each([
  { folder: packages.contract, below: [] },
  { folder: packages.cli, below: [packages.contract] },
  { folder: packages.agent, below: [packages.contract] },
  { folder: 'apps/api/src/core', below: [packages.contract] },
])('$folder imports nothing above it', ({ folder, below }) => {
  const upward = [...imports]
    .filter(([file]) => file.startsWith(`${folder}/`) && !file.endsWith('.test.ts'))
    .flatMap(([file, list]) => list.map((one) => ({ file, imported: one.file })))
    .filter(({ imported }) => ![folder, ...below].some((one) => imported.startsWith(`${one}/`)));
  expect(upward).toEqual([]);
});

test.each(['tests/api', 'tests/flows', 'tests/browser'])(
  '%s imports code of the API only through tests/support',
  (folder) => {
    const isInternal = (name: string) => name.startsWith('@edgeloom/api/') || name.includes('/apps/api/src/');
    const tests = sourceFiles(folder).map((file) => ({ file, names: namesIn(file).map(({ name }) => name) }));
    expect(tests.length).toBeGreaterThan(20);
    expect(tests.filter(({ names }) => names.some(isInternal)).map(({ file }) => file)).toEqual([]);
  },
);

test('the walks in docs/architecture.md name existing files', () => {
  const text = readFileSync(path.join(root, 'docs/architecture.md'), 'utf8');
  const walks = text.slice(text.indexOf('## Three walks'), text.indexOf('## One place'));
  const missing: string[] = [];
  let folder = '';
  for (const [, parent = '', cell = ''] of walks.matchAll(/^\| (?:\*\*(.+?)\*\*)? *\|([^|]*)\|/gm)) {
    if (parent !== '') folder = parent;
    for (const [, file = ''] of cell.matchAll(/`([^`]+)`/g))
      if (!existsSync(path.join(root, folder, file))) missing.push(`${folder}/${file}`);
  }
  expect(walks.match(/\*\*/g)?.length).toBeGreaterThan(10);
  expect(missing).toEqual([]);
});
