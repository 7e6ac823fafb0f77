// A folder of signed releases with empty archives, for tests that never install them.
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ReleaseManifest, ReleaseProduct } from '@edgeloom/contract/edge/releases.ts';
import { testDir } from '../services/test-dir.ts';

export interface ReleaseStore {
  settings: { RELEASES_DIR: string; RELEASE_KEYS: string };
  put: (product: ReleaseProduct, version: string, levels?: ReleaseManifest['levels']) => Promise<ReleaseManifest>;
}

export async function createReleaseStore(): Promise<ReleaseStore> {
  const dir = await testDir();
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return {
    settings: { RELEASES_DIR: dir, RELEASE_KEYS: publicKey.export({ type: 'spki', format: 'pem' }).toString() },
    async put(product, version, levels) {
      const archive = `${product} ${version}`;
      const manifest: ReleaseManifest = {
        product,
        version,
        sha256: createHash('sha256').update(archive).digest('hex'),
        bytes: archive.length,
        createdAt: '2026-11-21T00:00:00.000Z',
        levels,
      };
      const text = JSON.stringify(manifest);
      const signature = sign(null, Buffer.from(text), privateKey).toString('base64');
      await writeFile(path.join(dir, `${product}-${version}.tar.gz`), archive);
      await writeFile(path.join(dir, `${product}-${version}.json`), JSON.stringify({ manifest: text, signature }));
      return manifest;
    },
  };
}
