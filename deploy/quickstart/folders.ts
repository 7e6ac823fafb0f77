// Folders of the quick start's data.
import { chmod, mkdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { canPass, openElsewhere } from '../services/places.ts';
import { removePostgres } from '../services/postgres.ts';

export interface Folders {
  data: string;
  /** Pid files. */
  run: string;
  logs: string;
  secrets: string;
  postgres: string;
  nats: string;
  /** The demo node's directory. */
  edge: string;
  mail: string;
  /** Agent releases, signed by a key of this installation. */
  releases: string;
  /** Addresses, accounts and ids for people and scripts. Exists while everything is up. */
  summary: string;
  /** The same content, kept for the next start. */
  lastSummary: string;
}

const isRoot = process.getuid?.() === 0;

export async function openFolders(data: string, say: (text: string) => void): Promise<Folders> {
  await mkdir(data, { recursive: true });
  // As root, others may pass but not list: PostgreSQL's and nginx's folders are below.
  await chmod(data, isRoot ? 0o711 : 0o700);
  const folders = nameFolders(data);
  await makePrivate(folders);
  if (isRoot && !(await canPass(data))) {
    folders.edge = path.join(await openElsewhere(folders.edge), 'node');
    // The data was deleted, so the node belonged to an installation that no longer exists.
    if (!(await stat(folders.secrets).catch(() => null))) await rm(folders.edge, { recursive: true, force: true });
    say(`nginx's workers may not enter ${data}: the demo node's files are in ${folders.edge}`);
  }
  return folders;
}

/**
 * Deletes everything that earlier starts created. Nothing may be running. Pid files stay, because one is the caller's.
 */
export async function removeData(folders: Folders): Promise<void> {
  await removePostgres(folders.postgres);
  const { logs, secrets, nats, edge, mail, summary, lastSummary, releases } = folders;
  const agent = path.join(path.dirname(edge), 'agent');
  for (const place of [logs, secrets, nats, edge, agent, mail, summary, lastSummary, releases])
    await rm(place, { recursive: true, force: true });
  await makePrivate(folders);
}

/** Mails contain codes. */
async function makePrivate({ logs, mail }: Folders) {
  for (const folder of [logs, mail]) await mkdir(folder, { recursive: true, mode: 0o700 });
}

export const nameFolders = (data: string): Folders => ({
  data,
  run: path.join(data, 'run'),
  logs: path.join(data, 'logs'),
  secrets: path.join(data, 'secrets'),
  postgres: path.join(data, 'postgres'),
  nats: path.join(data, 'nats'),
  edge: path.join(data, 'edge'),
  mail: path.join(data, 'mail'),
  releases: path.join(data, 'releases'),
  summary: path.join(data, 'quickstart.json'),
  lastSummary: path.join(data, 'quickstart.last.json'),
});
