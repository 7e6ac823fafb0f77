// Generates the release signing key: `pnpm release:key FOLDER` writes release-key.pem, which stays private, and
// release-key.pub.pem, which control planes read (RELEASE_KEYS) and nodes get on installation.
import { generateKeyPairSync } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

export interface KeyFiles {
  privateKey: string;
  publicKey: string;
}

/** Never overwrites an existing key. */
export async function makeReleaseKey(folder: string): Promise<KeyFiles> {
  await mkdir(folder, { recursive: true });
  const files = keyFilesIn(folder);
  const pair = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  await writeFile(files.privateKey, pair.privateKey, { mode: 0o600, flag: 'wx', flush: true });
  await writeFile(files.publicKey, pair.publicKey, { mode: 0o644, flag: 'wx', flush: true });
  return files;
}

export const keyFilesIn = (folder: string): KeyFiles => ({
  privateKey: path.join(folder, 'release-key.pem'),
  publicKey: path.join(folder, 'release-key.pub.pem'),
});

if (import.meta.main) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) throw new Error('usage: pnpm release:key FOLDER');
  const { privateKey, publicKey } = await makeReleaseKey(folder);
  console.log(`${privateKey}: keep it apart from the control plane\n${publicKey}: RELEASE_KEYS of the control plane`);
}
