// Runs system programs that need root, by the same name everywhere.
import { spawn } from 'node:child_process';

const TIMEOUT_MS = 10_000;
const MAX_ERROR_CHARS = 500;
/** May be missing in PATH. */
const FOLDERS = '/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin';

export class NotInstalled extends Error {}

/** Returns stdout. Throws stderr. */
export function run(name: string, args: readonly string[], input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(name, args, {
      env: { PATH: `${process.env['PATH'] ?? ''}:${FOLDERS}`, LC_ALL: 'C' },
      stdio: ['pipe', 'pipe', 'pipe'],
      // spawn's own timeout option would keep a timer when the program cannot start.
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    // Some programs repeat all of their input.
    child.stderr.on('data', (chunk: Buffer) => (stderr = `${stderr}${chunk.toString()}`.slice(0, MAX_ERROR_CHARS)));
    child.once('error', (error) =>
      reject(
        'code' in error && error.code === 'ENOENT'
          ? new NotInstalled(`${name} is not installed`)
          : error.name === 'AbortError'
            ? new Error(`${name} did not end within ${TIMEOUT_MS / 1000} s`)
            : error,
      ),
    );
    // A program that exits without reading reports its reason by its exit code.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    child.once('close', (code) => {
      if (code === 0) resolve(stdout);
      else reject(new Error(`${name}: ${stderr.trim() || `ended with ${code}`}`));
    });
  });
}

export function assertMayReboot(): void {
  if (process.getuid?.() !== 0) throw new Error('the agent does not run as root and cannot reboot the machine');
}

export async function reboot(): Promise<void> {
  try {
    await run('systemctl', ['--no-block', 'reboot']);
  } catch (error) {
    if (!(error instanceof NotInstalled)) throw error;
    await run('shutdown', ['-r', 'now']);
  }
}
