// The installation's releases: archives with signed manifests beside them (deploy/release.ts). Other files of the
// folder are ignored.
import { createHash, type KeyObject } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { byAge, SignedRelease } from '@edgeloom/contract/edge/releases.ts';
import type { ReleaseManifest, ReleaseProduct } from '@edgeloom/contract/edge/releases.ts';
import { readPublicKeys, readSigned } from '@edgeloom/contract/edge/signatures.ts';
import { memoizeLatest } from '../core/memoize.ts';
import type { Env } from '../core/env.ts';

export interface StoredRelease {
  manifest: ReleaseManifest;
  signed: SignedRelease;
  /** The archive. */
  file: string;
}

export interface Releases {
  /** Newest first. */
  releases: StoredRelease[];
  /** Unusable files, with the reason. */
  refused: { name: string; reason: string }[];
}

export type ReleaseSettings = Pick<Env, 'RELEASES_DIR' | 'RELEASE_KEYS'>;

/** Each file is verified once until it changes. */
export async function releasesIn(settings: ReleaseSettings): Promise<Releases> {
  const { RELEASES_DIR: dir } = settings;
  const found: Releases = { releases: [], refused: [] };
  if (dir === undefined) return found;
  const keys = await releaseKeys(settings)
    .then((pem) => ({ pem, all: readPublicKeys(pem) }))
    .catch((error: unknown) => void found.refused.push({ name: 'RELEASE_KEYS', reason: wordsOf(error) }));
  if (!keys) return found;
  const names = (await readdir(dir).catch((): string[] => [])).filter((name) => name.endsWith('.json')).sort();
  for (const name of names) {
    try {
      found.releases.push(await readRelease(path.join(dir, name), keys));
    } catch (error) {
      found.refused.push({ name, reason: wordsOf(error) });
    }
  }
  found.releases.sort((one, other) => byAge(one.manifest, other.manifest));
  return found;
}

export const latestOf = ({ releases }: Releases, product: ReleaseProduct): StoredRelease | null =>
  releases.find(({ manifest }) => manifest.product === product) ?? null;

export const bySha256 = ({ releases }: Releases, sha256: string): StoredRelease | null =>
  releases.find(({ manifest }) => manifest.sha256 === sha256) ?? null;

/** PEM. Nodes trust these keys from their installation on. */
export async function releaseKeys({ RELEASE_KEYS: keys }: ReleaseSettings): Promise<string> {
  if (keys === undefined) return '';
  return keys.includes('-----BEGIN') ? keys : readFile(keys, 'utf8');
}

const wordsOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

interface Keys {
  pem: string;
  all: readonly KeyObject[];
}

const verifiedOnce = memoizeLatest<Pick<StoredRelease, 'manifest' | 'signed'>>();

/** Cached, since a rollout requests it for each node. */
async function verified(file: string, { pem, all }: Keys) {
  const { size, mtimeMs, ino } = await stat(file);
  return verifiedOnce(file, `${size} ${mtimeMs} ${ino} ${pem}`, async () => {
    const signed = SignedRelease.parse(JSON.parse(await readFile(file, 'utf8')));
    return { signed, manifest: readSigned(signed, all) };
  });
}

async function readRelease(file: string, keys: Keys): Promise<StoredRelease> {
  const { signed, manifest } = await verified(file, keys);
  const archive = file.replace(/\.json$/, '.tar.gz');
  const { size } = await stat(archive);
  if (size !== manifest.bytes) throw new Error(`${path.basename(archive)} has ${size} bytes, not ${manifest.bytes}`);
  if ((await hashOf(archive)) !== manifest.sha256) throw new Error(`${path.basename(archive)} is not what was signed`);
  return { manifest, signed, file: archive };
}

const hashedOnce = memoizeLatest<string>();

/** Cached until the file changes. */
export async function hashOf(file: string): Promise<string> {
  const { size, mtimeMs, ino } = await stat(file);
  return hashedOnce(file, `${size} ${mtimeMs} ${ino}`, async () => {
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(file)) hash.update(chunk);
    return hash.digest('hex');
  });
}
