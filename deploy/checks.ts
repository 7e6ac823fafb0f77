// The static checks. Each is one program that passes or fails.
import { spawn } from 'node:child_process';
import path from 'node:path';

const root = path.join(import.meta.dirname, '..');

export interface Check {
  name: string;
  /** A program of node_modules/.bin and its arguments. */
  command: [string, ...string[]];
}

export const staticChecks: Check[] = [
  { name: 'types', command: ['tsc', '--noEmit'] },
  { name: 'types of the console', command: ['tsc', '--noEmit', '-p', 'apps/console'] },
  { name: 'lint', command: ['oxlint', '--type-aware', '--deny-warnings'] },
  { name: 'format', command: ['oxfmt', '--check'] },
  { name: 'words', command: ['node', 'deploy/words.ts'] },
  { name: 'unused files, exports and packages', command: ['knip'] },
];

export const pureTests: Check = {
  name: 'pure tests',
  command: ['vitest', 'run', '--project', 'unit', '--project', 'console', '--reporter=dot'],
};

export interface Outcome {
  passed: boolean;
  output: string;
}

/** Runs one check. `show` prints its output while it runs. */
export async function runCheck({ command: [program, ...args] }: Check, { show = false } = {}): Promise<Outcome> {
  const child = spawn(path.join(root, 'node_modules/.bin', program), args, {
    cwd: root,
    stdio: ['ignore', show ? 'inherit' : 'pipe', show ? 'inherit' : 'pipe'],
    env: { ...process.env, PATH: `${path.join(root, 'node_modules/.bin')}:${process.env['PATH'] ?? ''}` },
  });
  let output = '';
  const keep = (chunk: Buffer) => (output += chunk.toString());
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  const code = await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject));
  return { passed: code === 0, output };
}
