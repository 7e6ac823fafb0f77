// Runs the real agent as a child process, with the machine's nginx, in its own directory.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chown, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { layoutOf } from '@edgeloom/agent/layout.ts';
import { findAnyNginx, send } from '@edgeloom/agent/nginx/processes.ts';
import { buildAll } from '../../../deploy/build.ts';
import { agentLogs } from './log-sources.ts';
import { minimalEnv } from './minimal-env.ts';
import { eventually } from '../assertions/eventually.ts';
import { processesOf } from './runs.ts';
import { testDir } from './test-dir.ts';

export interface AgentOptions {
  control?: string;
  token?: string;
  dir?: string;
  /** Program to run in place of this checkout's agent. */
  program?: { command: string; args: string[] };
  /** Listen address. Nodes of one zone share their ports and differ in address. */
  listen?: string;
  /** Path of nginx; by default the machine's nginx. */
  nginx?: string;
  /** Numeric user and group id to run as. */
  as?: number;
  /** Prepended to PATH. */
  path?: string;
  env?: Record<string, string>;
  /** Restarts the agent whenever it exits, as a service manager does. */
  restartOnExit?: boolean;
}

const RESTART_DELAY_MS = 50;
let built: Promise<unknown> | undefined;
/** The agent of this checkout, once `testAgent` has built it. It starts with half of the CPU time of its sources. */
export const agentFile = path.join(import.meta.dirname, '../../../dist/agent.mjs');

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
    agentLogs.add(this.log);
    const { command, args } = this.#options.program ?? { command: process.execPath, args: [agentFile] };
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
    if (this.#options.restartOnExit === true)
      child.once('exit', () => {
        if (!this.#isEnding) setTimeout(() => this.#isEnding || this.start(...flags), RESTART_DELAY_MS);
      });
  }

  /** Sends a signal. An agent with `restartOnExit` is restarted afterwards. */
  kill(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  get env(): NodeJS.ProcessEnv {
    const { control, token, nginx, path: before, listen = '127.0.0.1', env } = this.#options;
    return {
      ...minimalEnv,
      PATH: [before, minimalEnv.PATH].filter(Boolean).join(':'),
      EDGELOOM_DIR: this.dir,
      EDGELOOM_LISTEN: listen,
      // All agents of a run share one kernel, so they must not install firewall rules outside a network namespace.
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

  /** Resolves with the exit code. */
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

  /** Process id of the nginx master, from its pid file. */
  async nginxPid(): Promise<number> {
    return Number(await readFile(layoutOf(this.dir).pidFile, 'utf8'));
  }

  async stop(): Promise<void> {
    await this.end('SIGKILL');
    await eventually(async () => {
      const { dir, forwards } = layoutOf(this.dir);
      const nginx = [...(await findAnyNginx(dir)), ...(await findAnyNginx(forwards.dir))].map(({ pid }) => pid);
      // A child process that has not called exec yet has only the agent's environment.
      const left = new Set([...nginx, ...(await processesOf(this.dir))]);
      // A master ends its workers; orphaned workers get the signal themselves.
      for (const pid of left) send(pid, 'SIGTERM');
      if (left.size > 0) throw new Error('something of it still runs');
    });
    await rm(this.dir, { recursive: true, force: true });
    agentLogs.delete(this.log);
  }
}

export async function testAgent(options: AgentOptions = {}): Promise<TestAgent> {
  await (built ??= buildAll({ ifChanged: true, only: 'agent' }));
  const dir = options.dir ?? (await testDir());
  if (options.as !== undefined) await chown(dir, options.as, options.as);
  return new TestAgent(dir, options);
}
