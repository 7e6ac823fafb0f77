// Finds words that docs/glossary.md and CONTRIBUTING.md replace, in comments, declared names, test names and the
// English texts of the console. `words.json` has the patterns with better words. `words-allowed.json` has the permitted
// number per area; it may only shrink, and `node deploy/words.ts --update` writes it.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const root = path.join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const allowedFile = 'deploy/words-allowed.json';
const MAX_COLUMNS = 120;

type Kind = 'comments' | 'names' | 'texts' | 'tests';
interface Place {
  file: string;
  line: number;
  found: string;
  better: string;
}

const rules: Record<Kind, { pattern: string; better: string }[]> = JSON.parse(read('deploy/words.json'));
const patterns = Object.fromEntries(
  Object.entries(rules).map(([kind, list]) => [
    kind,
    list.map(({ pattern, better }) => ({ expression: new RegExp(pattern, kind === 'names' ? '' : 'i'), better })),
  ]),
);
const comment = /^\s*(?:\/\/+|\/\*\*?|\*|--+|#)\s?(.*?)(?:\*\/)?$|\s(?:\/\/|--)\s(.+)$/;
const declared = /\b(?:const|let|function|class|interface|type|enum|local(?: function)?)\s+(\w+)/;
const testName = /\b(?:test|it|describe)(?:\.\w+)*\(\s*(['"`])(.+?)\1/;
const sources = /\.(?:ts|tsx|mjs|lua|prisma|css)$/;

function placesIn(file: string): Place[] {
  const places: Place[] = [];
  const look = (kind: Kind, line: number, text: string | undefined) => {
    for (const { expression, better } of text ? (patterns[kind] ?? []) : []) {
      const [found] = expression.exec(text ?? '') ?? [];
      if (found !== undefined) return void places.push({ file, line, found: found.trim(), better });
    }
  };
  for (const [i, text] of read(file).split('\n').entries()) {
    const line = i + 1;
    if (file.endsWith('.json')) {
      look('texts', line, /: "(.*)"/.exec(text)?.[1]);
      continue;
    }
    const [, own, behind] = comment.exec(text) ?? [];
    look('comments', line, own ?? behind);
    if (own !== undefined && text.length > MAX_COLUMNS && !text.includes('http'))
      places.push({ file, line, found: `${text.length} columns`, better: `at most ${MAX_COLUMNS}` });
    look('names', line, declared.exec(text)?.[1]);
    if (file.endsWith('.test.ts')) look('tests', line, testName.exec(text)?.[2]);
  }
  return places;
}

/** `apps/api`, `tests/edge`, `deploy` … */
const areaOf = (file: string) => /^(?:agent|apps|packages|tests)\/\w+|^[^/]+/.exec(file)?.[0] ?? file;

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => (sources.test(file) && !file.includes('__golden__')) || file.includes('console/src/locales/en/'));
const byArea = Map.groupBy(files.flatMap(placesIn), ({ file }) => areaOf(file));
const counts = Object.fromEntries([...byArea].map(([area, { length }]) => [area, length]).toSorted());

if (process.argv.includes('--update')) {
  writeFileSync(path.join(root, allowedFile), `${JSON.stringify(counts, null, 2)}\n`);
} else {
  const allowed: Record<string, number> = JSON.parse(read(allowedFile));
  for (const [area, places] of byArea) {
    const most = allowed[area] ?? 0;
    if (places.length <= most && !process.argv.includes('--all')) continue;
    console.log(`${area}: ${places.length} places, at most ${most} are allowed`);
    for (const { file, line, found, better } of places) console.log(`  ${file}:${line}: ${found} → ${better}`);
    if (places.length > most) process.exitCode = 1;
  }
}
