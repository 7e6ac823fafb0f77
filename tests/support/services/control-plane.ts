// A whole control plane: API processes with their own database and nats-server, so that a test may kill any of them.
// Control planes must not share a nats-server, because each would respond to the other's nodes.
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { openInstallation } from '@edgeloom/api/core/installation.ts';
import type { Installation } from '@edgeloom/api/core/installation.ts';
import { initSecrets } from '@edgeloom/api/core/secrets-dir.ts';
import { readEnv } from '@edgeloom/api/core/env.ts';
import { serverConfig } from '@edgeloom/api/core/trust.ts';
import type { ServerPlace } from '@edgeloom/api/core/trust.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { prepareNats } from '../../../deploy/services/nats.ts';
import type { Nats } from '../../../deploy/services/nats.ts';
import { identify, launch } from '../../../deploy/services/program.ts';
import type { Exit, Program, Running } from '../../../deploy/services/program.ts';
import { apiClients } from '../builders/api-clients.ts';
import type { ApiClients } from '../builders/api-clients.ts';
import { apiBundle } from './api-bundle.ts';
import { minimalEnv } from './minimal-env.ts';
import { builder, unique } from '../builders/build.ts';
import type { Build, BuiltZone } from '../builders/build.ts';
import { eventually } from '../assertions/eventually.ts';
import { freePorts } from './ports.ts';
import { testDir } from './test-dir.ts';
import { unlimited } from '../builders/unlimited-rates.ts';

export interface ControlPlaneOptions {
  databaseUrl: string;
  /** Number of API processes. `url` is the first one's. */
  apis?: number;
  settings?: Record<string, string>;
}

export class ControlPlane {
  readonly dir: string;
  readonly secretsDir: string;
  readonly nats: NatsServer;
  readonly apis: ApiProcess[] = [];
  readonly installation: Installation;
  readonly build: Build;
  readonly as: ApiClients['as'];
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
    const { as, signIn } = apiClients(parts.installation, { url: this.api.url, adminUrl: this.api.adminUrl });
    this.as = as;
    this.build = builder(parts.installation, signIn);
  }

  get api(): ApiProcess {
    const [first] = this.apis;
    if (!first) throw new Error('a control plane without an api');
    return first;
  }

  /** Creates a node and returns what its machine needs to join. */
  async node(zone: BuiltZone, ip = '192.0.2.1'): Promise<{ nodeID: string; token: string; control: string }> {
    const body = { name: unique('node'), ip, zoneID: zone.id };
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
  const dir = await testDir();
  const secretsDir = path.join(dir, 'secrets');
  await initSecrets(secretsDir);
  const host = '127.0.0.1';
  const [natsPort = 0, ...ports] = await freePorts(1 + apis * 2);
  const config = (place: ServerPlace) => serverConfig({ secretsDir, ...place });
  const nats = new NatsServer(await prepareNats({ dir: path.join(dir, 'nats'), host, port: natsPort, config }), dir);
  const env = {
    DATABASE_URL: databaseUrl,
    NATS_URL: nats.url,
    SECRETS_DIR: secretsDir,
    ORIGIN_ALLOW: '127.0.0.0/8',
    NODE_ALLOW: '127.0.0.0/8',
    LOG_LEVEL: 'warn',
    ...unlimited,
    ...settings,
  };
  const main = await apiBundle();
  const processes = Array.from(
    { length: apis },
    (_, i) => new ApiProcess(main, env, ports[i * 2] ?? 0, ports[i * 2 + 1] ?? 0, dir),
  );
  try {
    await nats.start();
    await Promise.all(processes.map((api) => api.start()));
    const { close, ...installation } = await openInstallation(readEnv({ ...env, DATABASE_POOL: '4' }));
    return new ControlPlane({ dir, secretsDir, nats, apis: processes, installation, close });
  } catch (error) {
    // The test has no handle yet by which to stop these processes.
    await Promise.all(processes.map((api) => api.kill()));
    await nats.stop();
    await rm(dir, { recursive: true, force: true });
    throw error;
  }
}

/** The production entry point as one file, on ports that survive restarts. */
export class ApiProcess {
  readonly url: string;
  readonly adminUrl: string;
  readonly #program: Program;
  readonly #dir: string;
  #running: Running | null = null;

  constructor(main: string, env: Record<string, string>, port: number, adminPort: number, dir: string) {
    this.url = `http://127.0.0.1:${port}`;
    this.adminUrl = `http://127.0.0.1:${adminPort}`;
    this.#dir = dir;
    this.#program = {
      name: `api-${port}`,
      command: process.execPath,
      args: [main],
      env: {
        ...minimalEnv,
        NODE_CONTROL_URL: this.url,
        ...env,
        PORT: String(port),
        ADMIN_PORT: String(adminPort),
      },
      stopSignal: 'SIGTERM',
      stopWithinMs: 20_000,
    };
  }

  /** Resolves when the process serves HTTP and is connected to NATS. */
  async start(): Promise<void> {
    const running = await launch(this.#program, { runDir: path.join(this.#dir, 'run'), logDir: this.#dir });
    this.#running = running;
    const ended = running.exited.then(async () => {
      throw new Error(`the api ended:\n${await readFile(running.logFile, 'utf8').catch(() => '')}`);
    });
    ended.catch(() => undefined);
    const healthy = async () => {
      const text = await (await fetch(`${this.url}/api/v1/health`)).text();
      if (!text.includes('"status":"ok"')) throw new Error(text);
    };
    await Promise.race([eventually(healthy, { within: 90_000 }), ended]);
  }

  async kill(): Promise<void> {
    await kill(this.#running);
  }

  /** Resolves with the exit status. */
  async stop(): Promise<Exit | null> {
    const running = this.#running;
    await running?.stop();
    return running === null ? null : running.exited;
  }
}

/** Sends SIGKILL. Does nothing when the process has already exited. */
async function kill(running: Running | null): Promise<void> {
  if (running === null) return;
  const identity = await identify(running.pid);
  if (identity !== null) process.kill(running.pid, 'SIGKILL');
  await running.exited;
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
    await kill(this.#running);
  }

  /** Deletes the stored data. The server must be stopped. */
  async wipe(): Promise<void> {
    for (const part of ['jwt', 'store']) await rm(path.join(this.#dir, 'nats', part), { recursive: true, force: true });
  }

  async stop(): Promise<void> {
    await this.#running?.stop();
  }
}
