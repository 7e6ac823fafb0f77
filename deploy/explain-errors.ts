// Describes failed tests for npm test: errors and the ends of kept logs, in a number of lines that fits a screen.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describeError, type TestError } from './test-report.ts';

/** The count at the end stays on the screen with the errors. */
const MAX_LINES = 38;
const MAX_ERROR_LINES = 5;
const MAX_LOG_LINES = 10;
const MAX_LINE_LENGTH = 200;

/** At most 38 lines, which all errors share. `root`: paths are printed relative to it. */
export async function explainErrors(errors: readonly TestError[], root: string): Promise<string[]> {
  const shown = errors.slice(0, MAX_LINES - 1);
  const share = Math.floor(MAX_LINES / Math.max(1, errors.length));
  const lines = (await Promise.all(shown.map((error) => explainError(error, root, share)))).flat();
  return errors.length > shown.length ? [...lines, `and ${errors.length - shown.length} more errors`] : lines;
}

async function explainError(error: TestError, root: string, maxLines: number): Promise<string[]> {
  const lines = [`failed: ${describeError(error)}`, ...nextErrorLines(error)].slice(0, Math.max(1, maxLines));
  const left = Math.max(0, maxLines - lines.length);
  const logs = error.logs.slice(0, Math.floor(left / 2));
  const linesPerLog = Math.min(MAX_LOG_LINES, Math.floor(left / logs.length) - 1);
  for (const file of logs) lines.push(`  ${path.relative(root, file)}:`, ...(await lastLines(file, linesPerLog)));
  return lines.map((line) => line.slice(0, MAX_LINE_LENGTH));
}

/** The rest of the message, and the first place in the stack. */
function nextErrorLines({ error }: TestError): string[] {
  const [, ...lines] = error.split('\n').filter((line) => line.trim() !== '');
  const stackStart = lines.findIndex((line) => line.startsWith('    at '));
  const end = stackStart === -1 ? lines.length : stackStart;
  return [...lines.slice(0, Math.min(end, MAX_ERROR_LINES - 1)), ...lines.slice(end, end + 1)].map(
    (line) => `  ${line}`,
  );
}

async function lastLines(file: string, count: number): Promise<string[]> {
  // The second try deletes the logs of the first.
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return 'no longer there';
    throw error;
  });
  const lines = text.trimEnd().split('\n');
  return lines.slice(-count).map((line) => `    ${line}`);
}
