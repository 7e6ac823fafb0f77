// A whole control plane of a test's own: real api processes over a database and a nats-server that nobody else uses, so
// that a test may kill any of them. (Processes of two databases on one server would answer each other's nodes.)
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openInstallation } from '@edgeloom/api/core/installation.ts';
import type { Installation } from '@edgeloom/api/core/installation.ts';
import { initSecrets } from '@edgeloom/api/core/secrets-dir.ts';
import { readEnv } from '@edgeloom/api/env.ts';
import { serverConfig } from '@edgeloom/api/node-link/trust.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { prepareNats } from '../../deploy/services/nats.ts';
import type { Nats } from '../../deploy/services/nats.ts';
import { launch } from '../../deploy/services/program.ts';
import type { Running } from '../../deploy/services/program.ts';
import { actors } from './actors.ts';
import type { Actors } from './actors.ts';
import { builder, unique } from './build.ts';
import type { Build, BuiltZone } from './build.ts';
import { eventually } from './eventually.ts';
import { freePort, freePorts } from './ports.ts';

export interface ControlPlaneOptions {
  databaseUrl: string;
  /** How many api processes; the first one is `url`. */
  apis?: number;
  settings?: Record<string, string>;
}

const main = path.join(import.meta.dirname, '../../apps/api/src/main.ts');

export class ControlPlane {
  readonly dir: string;
  readonly secretsDir: string;
  readonly nats: NatsServer;
  readonly apis: ApiProcess[] = [];
  readonly installation: Installation;
  readonly build: Build;
  readonly as: Actors['as'];
  readonly #close: () => Promise<void>;

  constructor(parts: {
    dir: string;
    secretsDir: string;
    nats: NatsServer;
    apis: ApiProcess[];
    installation: Installation;
    close: () => Promise<void>;
  }) {
    this.dir = parts.dir;
    this.secretsDir = parts.secretsDir;
    this.nats = parts.nats;
    this.apis = parts.apis;
    this.installation = parts.installation;
    this.#close = parts.close;
    const { as, signIn } = actors(parts.installation, { url: this.api.url, adminUrl: this.api.adminUrl });
    this.as = as;
    this.build = builder(parts.installation, signIn);
  }

  get api(): ApiProcess {
    const [first] = this.apis;
    if (!first) throw new Error('a control plane without an api');
    return first;
  }

  /** A node as its operator makes it: what a machine needs to join. */
  async node(zone: BuiltZone): Promise<{ nodeID: string; token: string; control: string }> {
    const body = { name: unique('node'), ip: '192.0.2.1', zoneID: zone.id };
    const { id, joinToken } = await this.as(zone.client).call(nodes.create, { body });
    return { nodeID: id, token: joinToken, control: this.api.url };
  }

  async stop(): Promise<void> {
    await Promise.all(this.apis.map((api) => api.stop()));
    await this.nats.stop();
    await this.#close();
    await rm(this.dir, { recursive: true, force: true });
  }
}

export async function controlPlane({
  databaseUrl,
  apis = 1,
  settings = {},
}: ControlPlaneOptions): Promise<ControlPlane> {
  const dir = await mkdtemp(path.join(tmpdir(), 'edgeloom-plane-'));
  const secretsDir = path.join(dir, 'secrets');
  await initSecrets(secretsDir);
  const nats = new NatsServer(
    await prepareNats({
      dir: path.join(dir, 'nats'),
      host: '127.0.0.1',
      port: await freePort(),
      config: (place) => serverConfig({ secretsDir, ...place }),
    }),
    dir,
  );
  await nats.start();
  const env = {
    DATABASE_URL: databaseUrl,
    NATS_URL: nats.url,
    SECRETS_DIR: secretsDir,
    ORIGIN_ALLOW: '127.0.0.0/8',
    LOG_LEVEL: 'warn',
    ...settings,
  };
  const ports = await freePorts(apis * 2);
  const processes = Array.from(
    { length: apis },
    (_, i) => new ApiProcess(env, ports[i * 2] ?? 0, ports[i * 2 + 1] ?? 0, dir),
  );
  await Promise.all(processes.map((api) => api.start()));
  const { close, ...installation } = await openInstallation(readEnv({ ...env, DATABASE_POOL: '4' }));
  return new ControlPlane({ dir, secretsDir, nats, apis: processes, installation, close });
}

/** The process that a real installation runs, on ports that stay the same over restarts. */
export class ApiProcess {
  readonly url: string;
  readonly adminUrl: string;
  readonly logFile: string;
  readonly #env: Record<string, string>;
  #child: ChildProcess | null = null;

  constructor(env: Record<string, string>, port: number, adminPort: number, dir: string) {
    this.url = `http://127.0.0.1:${port}`;
    this.adminUrl = `http://127.0.0.1:${adminPort}`;
    this.logFile = path.join(dir, `api-${port}.log`);
    this.#env = { ...env, PORT: String(port), ADMIN_PORT: String(adminPort) };
  }

  /** Resolves when it answers and reaches its nodes. */
  async start(): Promise<void> {
    const log = await open(this.logFile, 'a');
    const child = spawn(process.execPath, [main], {
      env: { PATH: process.env['PATH'], ...this.#env },
      stdio: ['ignore', log.fd, log.fd],
    });
    await log.close();
    this.#child = child;
    await eventually(
      async () => {
        if (child.exitCode !== null) return;
        const answer = await fetch(`${this.url}/api/v1/health`);
        const text = await answer.text();
        if (!text.includes('"status":"ok"')) throw new Error(text);
      },
      { within: 30_000 },
    );
    if (child.exitCode !== null) throw new Error(`the api ended:\n${await readFile(this.logFile, 'utf8')}`);
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async stop(): Promise<void> {
    await this.#end('SIGTERM');
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }
}

export class NatsServer {
  readonly url: string;
  readonly #nats: Nats;
  readonly #dir: string;
  #running: Running | null = null;

  constructor(nats: Nats, dir: string) {
    this.#nats = nats;
    this.#dir = dir;
    this.url = nats.url;
  }

  async start(): Promise<void> {
    this.#running = await launch(this.#nats.program, { runDir: path.join(this.#dir, 'run'), logDir: this.#dir });
    await this.#nats.ready();
  }

  async kill(): Promise<void> {
    if (this.#running === null) return;
    process.kill(this.#running.pid, 'SIGKILL');
    await this.#running.exited;
  }

  /** All that it had stored. It must not be running. */
  async wipe(): Promise<void> {
    for (const part of ['jwt', 'store']) await rm(path.join(this.#dir, 'nats', part), { recursive: true, force: true });
  }

  async stop(): Promise<void> {
    await this.#running?.stop();
  }
}
