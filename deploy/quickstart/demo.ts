// The demo's accounts and objects, and quickstart.json, which lists them while the quick start runs.
import { randomBytes } from 'node:crypto';
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { step } from '../steps.mjs';
import type { Folders } from './folders.ts';
import type { Settings } from './settings.ts';

const Account = z.object({ email: z.string(), password: z.string() });
const Address = z.string();

/** Format of quickstart.json, for people and scripts. */
export const Summary = z.object({
  console: Address,
  adminConsole: Address,
  api: Address,
  edge: z.object({ http: Address, https: Address }),
  origin: Address,
  accounts: z.object({ admin: Account, client: Account, user: Account }),
  demo: z.object({
    zoneID: z.string(),
    nodeID: z.string(),
    productID: z.string(),
    siteID: z.string(),
    domainID: z.string(),
    domain: z.string(),
  }),
});
export type Summary = z.output<typeof Summary>;

export const addresses = (settings: Settings) => {
  const main = `http://${reachable(settings.HOST)}:${settings.PORT}`;
  return {
    console: settings.PUBLIC_URL ?? main,
    adminConsole: `http://${reachable(settings.ADMIN_HOST)}:${settings.ADMIN_PORT}`,
    api: main,
    edge: {
      http: `http://${reachable(settings.EDGE_HOST)}:${settings.EDGE_HTTP_PORT}`,
      https: `https://${reachable(settings.EDGE_HOST)}:${settings.EDGE_HTTPS_PORT}`,
    },
    origin: `http://${reachable(settings.ORIGIN_HOST)}:${settings.ORIGIN_PORT}`,
  };
};

/** Replaces a wildcard listen address by loopback. */
const reachable = (host: string) => {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
};

/** Scripts wait for quickstart.json, so it must exist only while everything is up. The next start needs its content. */
export async function hideSummary({ summary, lastSummary }: Folders): Promise<void> {
  if (await readSummary(summary)) await rename(summary, lastSummary);
  else await rm(summary, { force: true });
}

/** Called once everything is up. */
export const showSummary = ({ summary }: Folders, content: Summary) => writeJson(summary, content);

async function readSummary(file: string): Promise<Summary | null> {
  const text = await readFile(file, 'utf8').catch(() => '');
  try {
    return Summary.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Stored before the database rows are created, so that an interrupted start is repeated with the same values. */
const Chosen = z.object({
  passwords: z.object({ admin: z.string(), client: z.string(), user: z.string() }),
  joinToken: z.string(),
  /** The addresses in the demo's rows; null before the rows exist. */
  places: z
    .object({
      edge: z.object({ host: z.string(), http: z.int(), https: z.int(), forward: z.int().optional() }),
      origin: z.object({ host: z.string(), port: z.int() }),
    })
    .nullable(),
});
type Chosen = z.output<typeof Chosen>;

export interface DemoOptions {
  settings: Settings;
  /** Addresses for users, where they differ from the listen addresses. */
  published?: ReturnType<typeof addresses>;
  folders: Folders;
  databaseUrl: string;
}

/**
 * Creates the demo at the first start. Later starts only read files, unless a port has changed or the node has not
 * joined yet.
 */
export async function ensureDemo({ settings, published, folders, databaseUrl }: DemoOptions) {
  const chosenFile = path.join(folders.secrets, 'demo.json');
  const chosen = (await readChosen(chosenFile)) ?? choose();
  const known = await readSummary(folders.lastSummary);
  const here = published ?? addresses(settings);
  const places = placesOf(settings);
  const isJoined = (await stat(path.join(folders.edge, 'node.json')).catch(() => null)) !== null;
  const isCurrent = known !== null && isJoined && isDeepStrictEqual(chosen.places, places);
  let summary: Summary | null = known && { ...known, ...here };

  if (summary === null || !isCurrent) {
    await writeJson(chosenFile, chosen);
    const { passwords, joinToken } = chosen;
    summary = await step('Demo data', async () => {
      // Loaded lazily: the generated client is slow to load, and most starts do not need it.
      const { seedDemo } = await import('@edgeloom/api/demo.ts');
      const options = { secretsDir: folders.secrets, passwords, joinToken, ...places };
      const { accounts, ...demo } = await seedDemo(databaseUrl, {
        ...options,
        ...(chosen.places !== null && { previous: chosen.places }),
      });
      const withPassword = (kind: keyof typeof accounts) => ({ ...accounts[kind], password: passwords[kind] });
      const everyone = { admin: withPassword('admin'), client: withPassword('client'), user: withPassword('user') };
      return { ...here, accounts: everyone, demo };
    });
    await writeJson(chosenFile, { ...chosen, places });
  }
  if (!isDeepStrictEqual(summary, known)) await writeJson(folders.lastSummary, summary);
  return { summary, joinToken: chosen.joinToken, isFirst: known === null };
}

const placesOf = (settings: Settings) => ({
  edge: {
    host: settings.EDGE_HOST,
    http: settings.EDGE_HTTP_PORT,
    https: settings.EDGE_HTTPS_PORT,
    forward: settings.EDGE_FORWARD_PORT,
  },
  origin: { host: settings.ORIGIN_NAME ?? settings.ORIGIN_HOST, port: settings.ORIGIN_PORT },
});

const readChosen = async (file: string): Promise<Chosen | null> => {
  const text = await readFile(file, 'utf8').catch(() => null);
  return text === null ? null : Chosen.parse(JSON.parse(text));
};

function choose(): Chosen {
  const password = () => randomBytes(12).toString('base64url');
  return {
    passwords: { admin: password(), client: password(), user: password() },
    joinToken: randomBytes(32).toString('base64url'),
    places: null,
  };
}

/** Writes atomically, readable by the owner only. */
async function writeJson(file: string, content: unknown): Promise<void> {
  const draft = `${file}.new`;
  await writeFile(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, file);
}
