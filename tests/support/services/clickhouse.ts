// Starts the embedded ClickHouse engine in a separate process, for one test file.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const DATABASE = 'edgeloom';

export async function startClickHouse(): Promise<{ url: string; stop: () => Promise<void> }> {
  const directory = await mkdtemp(path.join(tmpdir(), 'edgeloom-clickhouse-'));
  const program = fileURLToPath(new URL('embedded-clickhouse.ts', import.meta.url));
  const child = spawn(process.execPath, [program, directory, DATABASE], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const port = await Promise.race([
    once(createInterface(child.stdout), 'line').then(([line]) => String(line)),
    ended.then(() => Promise.reject(new Error('the embedded ClickHouse did not start'))),
  ]);
  return {
    url: `http://default:@127.0.0.1:${port}/${DATABASE}`,
    async stop() {
      child.stdin.end();
      await ended;
      await rm(directory, { recursive: true });
    },
  };
}
