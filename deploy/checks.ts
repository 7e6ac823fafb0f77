// The static checks. Each is one program that passes or fails.
import { spawn } from 'node:child_process';
import path from 'node:path';

const root = path.join(import.meta.dirname, '..');

export interface Check {
  name: string;
  /** A program of node_modules/.bin and its arguments. */
  command: [string, ...string[]];
}

/** The longest first, because two run at a time. */
export const staticChecks: Check[] = [
  { name: 'lint', command: ['oxlint', '--type-aware', '--deny-warnings'] },
  // Each further checker checks the types that files share once more, which takes half of the CPU time.
  { name: 'types', command: ['tsc', '--noEmit', '--checkers', '1'] },
  { name: 'types of the console', command: ['tsc', '--noEmit', '--checkers', '1', '-p', 'apps/console'] },
  { name: 'unused files, exports and packages', command: ['knip'] },
  { name: 'format', command: ['oxfmt', '--check'] },
  { name: 'words', command: ['node', 'deploy/words.ts'] },
];

export const pureTests: Check = {
  name: 'pure tests',
  command: ['vitest', 'run', '--project', 'unit', '--project', 'console', '--reporter=dot'],
};

/** Calls `run` for each check, two at a time. */
export async function eachCheck(checks: readonly Check[], run: (check: Check) => Promise<void>): Promise<void> {
  const queue = [...checks];
  const lane = async () => {
    for (let check = queue.shift(); check !== undefined; check = queue.shift()) await run(check);
  };
  await Promise.all([lane(), lane()]);
}

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
