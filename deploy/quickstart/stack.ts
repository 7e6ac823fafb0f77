// Starts the whole product on one machine in order, and stops it in reverse order.
import { request } from 'node:http';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { initSecrets } from '@edgeloom/api/core/secrets-dir.ts';
import { serverConfig } from '@edgeloom/api/core/trust.ts';
import { generateClient } from '../../prisma/generate.ts';
import { deploy } from '../../prisma/migrate.ts';
import { prepareNats } from '../services/nats.ts';
import { ensureAgentHome } from '../agent-home.ts';
import { artifactsCache, ensureNodeArchive } from '../node-archive.ts';
import { ensureOwnRelease } from '../release.ts';
import type { OwnRelease } from '../release.ts';
import { preparePostgres } from '../services/postgres.ts';
import { findProgram } from '../services/program.ts';
import type { Program } from '../services/program.ts';
import { line, step, Trouble } from '../steps.mjs';
import { addresses, ensureDemo } from './demo.ts';
import type { Summary } from './demo.ts';
import type { Folders } from './folders.ts';
import type { Settings } from './settings.ts';
import { supervise } from './supervisor.ts';
import type { Supervised } from './supervisor.ts';

const root = path.join(import.meta.dirname, '../..');
const local = '127.0.0.1';

export interface Stack {
  summary: Summary;
  /** The demo was created by this start, so its passwords must be shown. */
  isFirst: boolean;
}

export interface StackOptions {
  settings: Settings;
  folders: Folders;
  dev: boolean;
}

/** Every started program is added to `running`, even if a later step fails. */
export async function startStack({ settings, folders, dev }: StackOptions, running: Supervised[]): Promise<Stack> {
  // npm start has done this before.
  if (dev) await generateClient();
  await initSecrets(folders.secrets);
  const start: Start = async (program, ready) => {
    running.push(await supervise(program, { runDir: folders.run, logDir: folders.logs, ready, say: line }));
  };

  const [databaseUrl, natsUrl] = await together([
    settings.DATABASE_URL ?? step('PostgreSQL', () => startPostgres(settings, folders, start)),
    settings.NATS_URL ?? step('nats-server', () => startNats(settings, folders, start)),
  ]);
  await step('Migrations', async (report) => {
    const applied = await deploy(databaseUrl);
    report(applied.length === 0 ? 'none new' : `${applied.length} applied`);
  });

  const own = await ensureOwnRelease(folders.releases);
  const env = apiEnvironment({ settings, folders, databaseUrl, natsUrl, own });
  const { summary, joinToken, isFirst } = await ensureDemo({ settings, folders, databaseUrl });
  const ok = (url: string) => (signal: AbortSignal) => isAnswered(url, { status: 200, signal });
  await together([
    step('Node for new nodes', () => ensureNodeArchive(artifactsCache), { quiet: () => true }),
    step('Demo origin', () => start(originProgram(settings), ok(summary.origin))),
    step('API and console', () =>
      start(apiProgram(env, dev), async (signal) => {
        await ok(`${summary.api}/api/v1/health`)(signal);
        await Promise.all([ok(`${summary.api}/user/`)(signal), ok(`${summary.adminConsole}/admin/`)(signal)]);
      }),
    ),
  ]);
  // The agent starts after the API, so that its first reports arrive. The agent would serve without the API, too.
  const agent = await agentProgram({ settings, folders, dev, own, control: summary.api, joinToken });
  // At a later start, the owner may have disabled the demo's domain.
  const wanted = isFirst ? { status: 200, host: summary.demo.domain } : {};
  await step('Edge node', () => start(agent, (signal) => isAnswered(summary.edge.http, { ...wanted, signal })));
  const vite = consoleProgram(settings, summary.api);
  if (dev) await step('Console with reload', () => start(vite, ok(devAddress(settings))));
  return { summary, isFirst };
}

/** Like Promise.all, but an error waits for the other promises, so that everything they start can be stopped. */
async function together<T extends readonly unknown[] | []>(
  tasks: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(tasks);
  return Promise.all(tasks);
}

type Start = (program: Program, ready: (signal: AbortSignal) => Promise<unknown>) => Promise<void>;

async function startPostgres(settings: Settings, folders: Folders, start: Start): Promise<string> {
  const place = { dir: folders.postgres, host: local, port: settings.POSTGRES_PORT };
  const postgres = await preparePostgres({ ...place, say: line });
  await start(postgres.program, postgres.ready);
  return postgres.ensureOwnedDatabase('edgeloom');
}

async function startNats(settings: Settings, folders: Folders, start: Start): Promise<string> {
  const config = (place: { host: string; port: number; jwtDir: string }) =>
    serverConfig({ secretsDir: folders.secrets, ...place });
  const nats = await prepareNats({ dir: folders.nats, host: local, port: settings.NATS_PORT, config });
  await start(nats.program, nats.ready);
  return nats.url;
}

interface Places {
  settings: Settings;
  folders: Folders;
  databaseUrl: string;
  natsUrl: string;
  own: OwnRelease;
}

/** The API's environment (apps/api/src/core/env.ts). Other variables pass through: SMTP_URL, METRICS_TOKEN … */
function apiEnvironment({ settings, folders, databaseUrl, natsUrl, own }: Places): Record<string, string | undefined> {
  return {
    ...own.settings,
    ARTIFACTS_DIR: artifactsCache,
    ...process.env,
    ...compiled,
    DATABASE_URL: databaseUrl,
    NATS_URL: natsUrl,
    SECRETS_DIR: folders.secrets,
    HOST: settings.HOST,
    PORT: String(settings.PORT),
    ADMIN_HOST: settings.ADMIN_HOST,
    ADMIN_PORT: String(settings.ADMIN_PORT),
    PUBLIC_URL: addresses(settings).console,
    ADMIN_URL: process.env['ADMIN_URL'] ?? addresses(settings).adminConsole,
    CONSOLE_DIR: path.join(root, 'apps/console/dist'),
    // The demo's origin is on this machine, which the outbound policy denies by default.
    ORIGIN_ALLOW:
      process.env['ORIGIN_ALLOW'] ?? `${settings.ORIGIN_HOST}/${settings.ORIGIN_HOST.includes(':') ? 128 : 32}`,
    CNAME_SUFFIX: process.env['CNAME_SUFFIX'] ?? 'cdn.edgeloom.test',
    ...(process.env['SMTP_URL'] === undefined && { MAIL_DIR: folders.mail }),
    LOG_LEVEL: settings.LOG_LEVEL,
  };
}

/** Node's compile cache makes the API start three times as fast. */
const compiled = { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? path.join(root, '.data/cache/compiled') };

const stopping = { stopSignal: 'SIGTERM', stopWithinMs: 15_000 } as const;
/** Node restarts the program when a source changes. */
const following = (dev: boolean) => (dev ? ['--watch', '--watch-preserve-output'] : []);

const originProgram = (settings: Settings): Program => ({
  name: 'origin',
  command: process.execPath,
  args: ['deploy/quickstart/origin.ts', settings.ORIGIN_HOST, String(settings.ORIGIN_PORT)],
  cwd: root,
  env: { ...process.env, ...compiled },
  ...stopping,
});

const apiProgram = (env: NodeJS.ProcessEnv, dev: boolean): Program => ({
  name: 'api',
  command: process.execPath,
  args: [...following(dev), 'apps/api/src/main.ts'],
  cwd: root,
  env,
  ...stopping,
});

const devAddress = (settings: Settings) => `http://${local}:${settings.CONSOLE_DEV_PORT}`;

const consoleProgram = (settings: Settings, api: string): Program => ({
  name: 'console',
  command: process.execPath,
  args: ['node_modules/vite/bin/vite.js', '--host', local, '--port', String(settings.CONSOLE_DEV_PORT), '--strictPort'],
  cwd: path.join(root, 'apps/console'),
  env: { ...process.env, EDGELOOM_API: api },
  ...stopping,
});

interface AgentPlace {
  settings: Settings;
  folders: Folders;
  dev: boolean;
  own: OwnRelease;
  control: string;
  joinToken: string;
}

async function agentProgram({ settings, folders, dev, own, control, joinToken }: AgentPlace): Promise<Program> {
  const nginx = settings.EDGELOOM_NGINX.includes('/')
    ? settings.EDGELOOM_NGINX
    : await findProgram(settings.EDGELOOM_NGINX);
  if (nginx === null)
    throw new Trouble(`${settings.EDGELOOM_NGINX} is not there; EDGELOOM_NGINX names another program`);
  return {
    name: 'agent',
    ...(dev
      ? {
          command: process.execPath,
          args: [...following(dev), path.join(root, 'agent/src/main.ts'), 'run', '--with-nginx'],
        }
      : { command: await agentLauncher(folders, own), args: ['run', '--with-nginx'] }),
    cwd: folders.data,
    env: {
      ...process.env,
      ...compiled,
      EDGELOOM_DIR: folders.edge,
      EDGELOOM_CONTROL: control,
      EDGELOOM_TOKEN: joinToken,
      EDGELOOM_LISTEN: settings.EDGE_HOST.includes(':') ? `[${settings.EDGE_HOST}]` : settings.EDGE_HOST,
      EDGELOOM_NGINX: nginx,
      EDGELOOM_DEMO_VISITORS: settings.DEMO_VISITORS,
      EDGELOOM_RELEASE_KEYS: own.settings.RELEASE_KEYS,
    },
    ...stopping,
  };
}

/**
 * The agent starts through its launcher, as on real nodes, so that it can be upgraded. nginx's workers must be able to
 * read releases, so both are in the same place.
 */
const agentLauncher = (folders: Folders, { archive }: OwnRelease) =>
  ensureAgentHome(path.join(path.dirname(folders.edge), 'agent'), archive);

interface Wanted {
  /** Undefined accepts any status. */
  status?: number;
  host?: string;
  signal: AbortSignal;
}

/** Requests the URL until the response matches or the signal aborts. */
async function isAnswered(url: string, { status, host, signal }: Wanted): Promise<void> {
  while (!signal.aborted) {
    const answered = await statusOf(url, host);
    if (answered !== undefined && (status === undefined || answered === status)) return;
    await setTimeout(40);
  }
}

const statusOf = (url: string, host?: string) =>
  new Promise<number | undefined>((resolve) => {
    // fetch does not allow setting the Host header.
    const asked = request(
      url,
      { headers: host === undefined ? {} : { host }, timeout: 2000, agent: false },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      },
    );
    asked.once('timeout', () => asked.destroy()).once('error', () => resolve(undefined));
    asked.end();
  });
