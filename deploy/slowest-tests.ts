// The slowest files of the last run of tests. npm run test:slowest prints fifty, and the sum of each folder.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { line } from './steps.mjs';
import { TestReport } from './test-report.ts';
import { REPORT_FILE, reportFolder } from './test-runs.ts';

const seconds = (ms: number) => `${(ms / 1000).toFixed(1).padStart(8)} s`;

/** All files, the slowest first. None if the run wrote no report. */
async function slowestFiles() {
  const text = await readFile(path.join(reportFolder, REPORT_FILE), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{ "files": [], "errors": [] }';
    throw error;
  });
  const report: unknown = JSON.parse(text);
  return TestReport.parse(report).files.toSorted((a, b) => b.durationMs - a.durationMs);
}

/** A line for each of the slowest `count` files. */
export async function describeSlowestFiles(count: number): Promise<string[]> {
  return (await slowestFiles()).slice(0, count).map(({ file, durationMs }) => `${seconds(durationMs)}  ${file}`);
}

async function describeFolders(): Promise<string[]> {
  const folderOf = ({ file }: { file: string }) => file.split('/').slice(0, 2).join('/');
  return [...Map.groupBy(await slowestFiles(), folderOf)].map(([folder, files]) => {
    const sum = files.reduce((total, { durationMs }) => total + durationMs, 0);
    return `${seconds(sum)}  ${folder} (${files.length} files)`;
  });
}

if (import.meta.main) line([...(await describeSlowestFiles(50)), '', ...(await describeFolders())].join('\n'));
