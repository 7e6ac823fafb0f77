// npm run test:slowest: the slowest fifty files of the last run of tests, and the sum of each folder.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { line } from './steps.mjs';

const root = path.join(import.meta.dirname, '..');
const Report = z.object({
  testResults: z.array(z.object({ name: z.string(), startTime: z.number(), endTime: z.number() })),
});

const seconds = (ms: number) => `${(ms / 1000).toFixed(1).padStart(8)} s`;

const { testResults } = Report.parse(JSON.parse(await readFile(path.join(root, '.data/test/vitest.json'), 'utf8')));
// The times of tests, without the hooks that start their programs.
const files = testResults
  .map(({ name, startTime, endTime }) => ({ file: path.relative(root, name), ms: endTime - startTime }))
  .toSorted((a, b) => b.ms - a.ms);
for (const { file, ms } of files.slice(0, 50)) line(`${seconds(ms)}  ${file}`);

line('');
const folderOf = ({ file }: { file: string }) => file.split('/').slice(0, 2).join('/');
for (const [folder, of] of Map.groupBy(files, folderOf)) {
  const sum = of.reduce((total, { ms }) => total + ms, 0);
  line(`${seconds(sum)}  ${folder} (${of.length} files)`);
}
