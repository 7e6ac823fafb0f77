// The real agent as a process of its own, with the machine's nginx, in a directory of its own.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chown, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { layoutOf } from '@edgeloom/agent/layout.ts';
import { findAnyNginx, send } from '@edgeloom/agent/nginx/processes.ts';
import { bareEnv } from './bare-env.ts';
import { eventually } from './eventually.ts';
import { processesOf } from './leftovers.ts';
import { testDir } from './test-dir.ts';

export interface AgentOptions {
  control?: string;
  token?: string;
  dir?: string;
  /** Runs instead of the sources. */
  program?: { command: string; args: string[] };
  /** Where it listens; several nodes of one zone have the same ports. */
  listen?: string;
  /** Instead of the machine's nginx. */
  nginx?: string;
  /** Runs as this user and group instead of ours. */
  as?: number;
  /** Where it finds programs, before where we do. */
  path?: string;
  env?: Record<string, string>;
  /** Started again whenever it ends by itself or is killed, as a service manager does. */
  isKept?: boolean;
}

const KEEP_AFTER_MS = 50;
const main = path.join(import.meta.dirname, '../../agent/src/main.ts');

export class TestAgent {
  readonly dir: string;
  readonly #options: AgentOptions;
  #child: ChildProcess | null = null;
  #isEnding = false;
  readonly log: Record<string, unknown>[] = [];

  constructor(dir: string, options: AgentOptions) {
    this.dir = dir;
    this.#options = options;
  }

  start(...flags: string[]): void {
    this.#isEnding = false;
    const { command, args } = this.#options.program ?? { command: process.execPath, args: [main] };
    const { as } = this.#options;
    const child = spawn(command, [...args, 'run', ...flags], {
      env: this.env,
      stdio: ['ignore', 'ignore', 'pipe'],
      ...(as !== undefined && { uid: as, gid: as, cwd: this.dir }),
    });
    let rest = '';
    child.stderr.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.log.push(line.startsWith('{') ? JSON.parse(line) : { message: line });
    });
    this.#child = child;
    if (this.#options.isKept === true)
      child.once('exit', () => {
        if (!this.#isEnding) setTimeout(() => this.#isEnding || this.start(...flags), KEEP_AFTER_MS);
      });
  }

  /** Sends it a signal; one that is kept comes back. */
  kill(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  get env(): NodeJS.ProcessEnv {
    const { control, token, nginx, path: before, listen = '127.0.0.1', env } = this.#options;
    return {
      ...bareEnv,
      PATH: [before, bareEnv.PATH].filter(Boolean).join(':'),
      EDGELOOM_DIR: this.dir,
      EDGELOOM_LISTEN: listen,
      // One kernel for all agents of a run: each would take away the rules of the others. In a namespace of its own: kernel.
      EDGELOOM_FIREWALL: 'nginx',
      ...(control !== undefined && { EDGELOOM_CONTROL: control }),
      ...(token !== undefined && { EDGELOOM_TOKEN: token }),
      ...(nginx !== undefined && { EDGELOOM_NGINX: nginx }),
      ...env,
    };
  }

  get running(): boolean {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Answers the exit code. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    this.#isEnding = true;
    const child = this.#child;
    if (child === null || !this.running) return child?.exitCode ?? null;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
    return child.exitCode;
  }

  async ended(): Promise<number | null> {
    if (this.#child !== null && this.running) await once(this.#child, 'exit');
    return this.#child?.exitCode ?? null;
  }

  /** Of nginx's master, as its pid file says. */
  async nginxPid(): Promise<number> {
    return Number(await readFile(layoutOf(this.dir).pidFile, 'utf8'));
  }

  async stop(): Promise<void> {
    await this.end('SIGKILL');
    await eventually(async () => {
      const { dir, forwards } = layoutOf(this.dir);
      const nginx = [...(await findAnyNginx(dir)), ...(await findAnyNginx(forwards.dir))].map(({ pid }) => pid);
      // What it had started as it was killed is not yet what it is to become, and has no more than the agent's environment.
      const left = new Set([...nginx, ...(await processesOf(this.dir))]);
      // A master ends its workers; those without one are asked themselves.
      for (const pid of left) send(pid, 'SIGTERM');
      if (left.size > 0) throw new Error('something of it still runs');
    });
    await rm(this.dir, { recursive: true, force: true });
  }
}

export async function testAgent(options: AgentOptions = {}): Promise<TestAgent> {
  const dir = options.dir ?? (await testDir());
  if (options.as !== undefined) await chown(dir, options.as, options.as);
  return new TestAgent(dir, options);
}
