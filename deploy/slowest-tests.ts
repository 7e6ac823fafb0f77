// npm run test:slowest: the slowest fifty files of the last run of tests, and the sum of each folder.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { line } from './steps.mjs';
import { TestReport } from './test-report.ts';
import { REPORT_FILE, reportFolder } from './test-runs.ts';

const seconds = (ms: number) => `${(ms / 1000).toFixed(1).padStart(8)} s`;

const report: unknown = JSON.parse(await readFile(path.join(reportFolder, REPORT_FILE), 'utf8'));
const files = TestReport.parse(report).files.toSorted((a, b) => b.durationMs - a.durationMs);
for (const { file, durationMs } of files.slice(0, 50)) line(`${seconds(durationMs)}  ${file}`);

line('');
const folderOf = ({ file }: { file: string }) => file.split('/').slice(0, 2).join('/');
for (const [folder, of] of Map.groupBy(files, folderOf)) {
  const sum = of.reduce((total, { durationMs }) => total + durationMs, 0);
  line(`${seconds(sum)}  ${folder} (${of.length} files)`);
}
