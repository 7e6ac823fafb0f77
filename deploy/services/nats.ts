// Runs the system's nats-server. The caller provides the configuration; the API manages accounts and keys.
import { mkdir, writeFile } from 'node:fs/promises';
import { connect as connectTcp } from 'node:net';
import path from 'node:path';
import { findProgram } from './program.ts';
import type { Program } from './program.ts';

export interface NatsOptions {
  /** Folder of the configuration and, in `jwt`, the account claims. */
  dir: string;
  host: string;
  port: number;
  config: (place: { host: string; port: number; storeDir: string; jwtDir: string }) => Promise<string>;
}

export interface Nats {
  program: Program;
  url: string;
  /** Polls until the server listens or the signal aborts. Race it against the program's exit. */
  ready: (signal?: AbortSignal) => Promise<void>;
}

export async function prepareNats({ dir, host, port, config }: NatsOptions): Promise<Nats> {
  const command = await findProgram('nats-server');
  if (command === null) throw new Error('nats-server is missing: apt-get install nats-server');
  const jwtDir = path.join(dir, 'jwt');
  const storeDir = path.join(dir, 'store');
  await Promise.all([mkdir(jwtDir, { recursive: true }), mkdir(storeDir, { recursive: true })]);
  const file = path.join(dir, 'nats.conf');
  await writeFile(file, await config({ host, port, storeDir, jwtDir }), { mode: 0o600 });
  return {
    program: { name: 'nats', command, args: ['-c', file], cwd: dir, stopSignal: 'SIGTERM', stopWithinMs: 10_000 },
    url: `nats://${host}:${port}`,
    ready: async (signal) => {
      while (!(await listens(host, port)) && !signal?.aborted) await new Promise((resolve) => setTimeout(resolve, 20));
    },
  };
}

const listens = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connectTcp({ host, port });
    socket.once('data', () => socket.destroy()).once('error', () => socket.destroy());
    socket.once('data', () => resolve(true)).once('close', () => resolve(false));
  });
