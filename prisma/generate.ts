// Generates the Prisma client into apps/api/src/generated, when the schema changed since the last time.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

const root = path.join(import.meta.dirname, '..');
const schemaFolder = path.join(import.meta.dirname, 'schema');
const output = path.join(root, 'apps/api/src/generated');
/** In the output, so that deleting the client deletes the claim that it is current. */
const stampFile = path.join(output, '.schema-hash');

/** Answers whether there was anything to do. */
export async function generateClient(): Promise<boolean> {
  const stamp = await schemaHash();
  if ((await readFile(stampFile, 'utf8').catch(() => '')) === stamp) return false;
  // The variable keeps prisma from looking for an engine to download; generating needs none.
  const child = spawn(process.execPath, ['node_modules/prisma/build/index.js', 'generate', '--schema', schemaFolder], {
    cwd: root,
    env: {
      ...process.env,
      PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true',
      CHECKPOINT_DISABLE: '1',
      PRISMA_HIDE_UPDATE_MESSAGE: '1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await once(child, 'close');
  if (child.exitCode !== 0) throw new Error(`prisma generate failed:\n${text}`);
  await mkdir(output, { recursive: true });
  await writeFile(stampFile, stamp);
  return true;
}

async function schemaHash(): Promise<string> {
  const hash = createHash('sha256');
  for (const name of (await readdir(schemaFolder)).sort()) {
    hash
      .update(name)
      .update('\0')
      .update(await readFile(path.join(schemaFolder, name)))
      .update('\0');
  }
  hash.update(await readFile(path.join(root, 'node_modules/prisma/package.json')));
  return hash.digest('hex');
}

if (import.meta.main) {
  const made = await generateClient();
  console.log(made ? 'The Prisma client is generated.' : 'The Prisma client is current.');
}
