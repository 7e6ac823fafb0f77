// Where the API token of `edgeloom login` is: a file that only its owner can read.
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import * as z from 'zod';
import { CommandError } from './command.ts';
import type { Terminal } from './terminal.ts';

const Credentials = z.object({
  url: z.url(),
  family: z.enum(['user', 'client', 'admin']),
  token: z.string().min(1),
});
export type Credentials = z.output<typeof Credentials>;
type Environment = Terminal['env'];

/** The XDG specification ignores relative paths. */
export function credentialsFile(env: Environment): string {
  const configured = env['XDG_CONFIG_HOME'] ?? '';
  const folder = path.isAbsolute(configured) ? configured : path.join(env['HOME'] ?? homedir(), '.config');
  return path.join(folder, 'edgeloom/credentials.json');
}

export async function saveCredentials(env: Environment, credentials: Credentials): Promise<string> {
  const file = credentialsFile(env);
  const draft = `${file}.${randomUUID()}`;
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(draft, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  await rename(draft, file);
  return file;
}

/** Null: nobody is signed in. */
export async function readCredentials(env: Environment): Promise<Credentials | null> {
  const file = credentialsFile(env);
  const state = await stat(file).catch(() => null);
  if (state === null) return null;
  // Windows has no such permissions.
  if (process.platform !== 'win32' && (state.mode & 0o077) !== 0)
    throw new CommandError(`Other users can read ${file}. Run: chmod 600 ${file}`);
  const credentials = Credentials.safeParse(parseJson(await readFile(file, 'utf8')));
  if (!credentials.success) throw new CommandError(`${file} is damaged. Run edgeloom login again.`);
  return credentials.data;
}

export const removeCredentials = (env: Environment) => rm(credentialsFile(env), { force: true });

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
