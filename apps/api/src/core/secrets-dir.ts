// The installation's secrets, one file each, created at the first start. Losing them loses all sealed values and
// disconnects all nodes. Back them up apart from the database.
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createAccount, createOperator } from '@nats-io/jwt';
import type { KeyPair } from '@nats-io/jwt';
import * as z from 'zod';

export const NatsSeeds = z.object({ operatorSeed: z.string(), systemSeed: z.string(), accountSeed: z.string() });
export type NatsSeeds = z.output<typeof NatsSeeds>;

export const masterKeyFile = (dir: string) => path.join(dir, 'master.key');
export const sessionKeyFile = (dir: string) => path.join(dir, 'session.key');
const natsFile = (dir: string) => path.join(dir, 'nats.json');

/** Creates missing secrets. Safe in concurrent processes. */
export async function initSecrets(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await ensureFile(masterKeyFile(dir), () => `${randomBytes(32).toString('base64')}\n`);
  await ensureFile(
    sessionKeyFile(dir),
    () =>
      generateKeyPairSync('ed25519', {
        privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
        publicKeyEncoding: { type: 'spki', format: 'pem' },
      }).privateKey,
  );
  await ensureFile(natsFile(dir), () => {
    const seed = (pair: KeyPair) => Buffer.from(pair.getSeed()).toString('ascii');
    const seeds: NatsSeeds = {
      operatorSeed: seed(createOperator()),
      systemSeed: seed(createAccount()),
      accountSeed: seed(createAccount()),
    };
    return `${JSON.stringify(seeds, null, 2)}\n`;
  });
}

export const readNatsSeeds = async (dir: string): Promise<NatsSeeds> =>
  NatsSeeds.parse(JSON.parse(await readFile(natsFile(dir), 'utf8')));

/** The current master key first, then older ones that may still be needed, one per line. */
export function readMasterKeys(dir: string): MasterKey[] {
  const lines = readFileSync(masterKeyFile(dir), 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const keys = lines.map((line) => Buffer.from(line, 'base64'));
  if (keys.length === 0 || keys.some((key) => key.length !== 32))
    throw new Error(`${masterKeyFile(dir)} holds something other than 32 bytes in base64, one key a line`);
  return keys.map((key) => ({ id: createHash('sha256').update(key).digest('hex').slice(0, 8), key }));
}

/** Atomic, also when killed. */
export async function writeMasterKeys(dir: string, keys: readonly Pick<MasterKey, 'key'>[]): Promise<void> {
  const draft = `${masterKeyFile(dir)}.${randomBytes(6).toString('hex')}`;
  const text = keys.map(({ key }) => `${key.toString('base64')}\n`).join('');
  await writeFile(draft, text, { mode: 0o600, flag: 'wx', flush: true });
  await rename(draft, masterKeyFile(dir));
}

export interface MasterKey {
  id: string;
  key: Buffer;
}

async function ensureFile(file: string, make: () => string) {
  const isThere = await readFile(file).then(
    () => true,
    (error: unknown) => {
      if (codeOf(error) === 'ENOENT') return false;
      throw error;
    },
  );
  if (isThere) return;
  // link() fails when another process was first, and a kill leaves no partial key.
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, make(), { mode: 0o600, flag: 'wx', flush: true });
  try {
    await link(draft, file);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? error.code : null);
