// All settings of the quick start. `npm start -- --help` prints the table below.
import path from 'node:path';
import * as z from 'zod';
import { Trouble } from '../steps.mjs';

const root = path.join(import.meta.dirname, '../..');

const Port = z.coerce.number().int().min(1).max(65_535);
const Address = z.union([z.ipv4(), z.ipv6()], 'an address, such as 127.0.0.1');
const Level = z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace']);

export const Settings = z.object({
  EDGELOOM_DATA: z
    .string()
    .default('.data')
    .transform((folder) => path.resolve(root, folder))
    .describe('Folder of database, secrets, node and logs; relative to the repository, or absolute'),
  HOST: Address.default('127.0.0.1').describe('Address of the API and of the consoles of customers and operators'),
  PORT: Port.default(8080).describe('Its port'),
  ADMIN_HOST: Address.default('127.0.0.1').describe('Address of the admin console'),
  ADMIN_PORT: Port.default(8081).describe('Its port'),
  PUBLIC_URL: z
    .url()
    .optional()
    .describe('URL of the consoles in mails and links. Default: http:// with HOST and PORT'),
  EDGE_HOST: Address.default('127.0.0.1').describe('Address of the edge node'),
  EDGE_HTTP_PORT: Port.default(9080).describe('Its port for HTTP'),
  EDGE_HTTPS_PORT: Port.default(9443).describe('Its port for HTTPS'),
  EDGE_FORWARD_PORT: Port.default(9022).describe('Its layer-4 forward of the demo site, for the PROXY protocol'),
  EDGELOOM_NGINX: z.string().default('nginx').describe('The nginx or OpenResty program of the edge node'),
  ORIGIN_HOST: Address.default('127.0.0.1').describe('Address of the demo origin'),
  ORIGIN_NAME: z.string().optional().describe('Host name of the demo origin for the edge. Default: its address'),
  ORIGIN_PORT: Port.default(9000).describe('Its port'),
  DEMO_VISITORS: z
    .enum(['on', 'off'])
    .default('on')
    .describe('Visitors of several countries request pages of the demo site, so that charts have data'),
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/ })
    .optional()
    .describe('An existing PostgreSQL 15 or later. Without it one is started'),
  POSTGRES_PORT: Port.default(15_432).describe('Port of that PostgreSQL, on 127.0.0.1'),
  NATS_URL: z
    .url({ protocol: /^(nats|tls)$/ })
    .optional()
    .describe(
      'An existing nats-server that trusts the operator of <data>/secrets/nats.json. Without it one is started',
    ),
  NATS_PORT: Port.default(14_222).describe('Port of that nats-server, on 127.0.0.1'),
  CONSOLE_DEV_PORT: Port.default(5173).describe("Port of the console's development server (pnpm dev), on 127.0.0.1"),
  LOG_LEVEL: Level.default('info').describe('Minimum level of logged lines'),
});
export type Settings = z.output<typeof Settings>;

/** A port of the quick start, with its variable and its user. */
export interface Listener {
  variable: keyof Settings;
  who: string;
  host: string;
  port: number;
}

export function readSettings(source: NodeJS.ProcessEnv = process.env): Settings {
  const given = Object.fromEntries(
    Object.entries(source).filter(([name, value]) => name in Settings.shape && value !== ''),
  );
  const { success, data, error } = Settings.safeParse(given);
  if (!success) throw new Trouble(error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('\n'));

  const taken = new Map<string, Listener>();
  for (const listener of listeners(data, { dev: true })) {
    const other = taken.get(`${listener.port}`);
    if (other) throw new Trouble(`${other.variable} and ${listener.variable} are both ${listener.port}`);
    taken.set(`${listener.port}`, listener);
  }
  return data;
}

export function listeners(settings: Settings, { dev }: { dev: boolean }): Listener[] {
  const local = '127.0.0.1';
  const all: Listener[] = [
    { variable: 'PORT', who: 'the API and the console', host: settings.HOST, port: settings.PORT },
    { variable: 'ADMIN_PORT', who: 'the admin console', host: settings.ADMIN_HOST, port: settings.ADMIN_PORT },
    { variable: 'EDGE_HTTP_PORT', who: 'the edge (HTTP)', host: settings.EDGE_HOST, port: settings.EDGE_HTTP_PORT },
    { variable: 'EDGE_HTTPS_PORT', who: 'the edge (HTTPS)', host: settings.EDGE_HOST, port: settings.EDGE_HTTPS_PORT },
    {
      variable: 'EDGE_FORWARD_PORT',
      who: 'the edge (layer 4)',
      host: settings.EDGE_HOST,
      port: settings.EDGE_FORWARD_PORT,
    },
    { variable: 'ORIGIN_PORT', who: 'the demo origin', host: settings.ORIGIN_HOST, port: settings.ORIGIN_PORT },
  ];
  if (settings.DATABASE_URL === undefined) {
    all.push({ variable: 'POSTGRES_PORT', who: 'PostgreSQL', host: local, port: settings.POSTGRES_PORT });
  }
  if (settings.NATS_URL === undefined) {
    all.push({ variable: 'NATS_PORT', who: 'nats-server', host: local, port: settings.NATS_PORT });
  }
  if (dev) {
    all.push({
      variable: 'CONSOLE_DEV_PORT',
      who: 'the console with reload',
      host: local,
      port: settings.CONSOLE_DEV_PORT,
    });
  }
  return all;
}

export function helpText(): string {
  const defaults: Record<string, unknown> = Settings.parse({});
  const rows = Object.entries(Settings.shape).map(([name, schema]) => {
    const value = name === 'EDGELOOM_DATA' ? '.data' : (defaults[name] ?? '');
    return `  ${name.padEnd(18)}${String(value).padEnd(12)}${schema.description ?? ''}`;
  });
  return [
    'npm start                 start everything on this machine; keeps its data between starts',
    'npm start -- --fresh      delete the data first',
    'pnpm dev                  the same, with reload of console, API and agent',
    '',
    'Settings, by environment variable (name, default, meaning):',
    ...rows,
  ].join('\n');
}
