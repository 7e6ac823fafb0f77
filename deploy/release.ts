// Makes a signed release: an archive and its signed manifest. By default of a newly built agent; of a data pack with
// `--product waf --from FOLDER` (or one file). The same files give the same archive.
//
// pnpm release --key KEY.pem --to FOLDER [--version 1.2.3] [--product waf|risk|geo --from FOLDER|FILE]
import { createHash, createPrivateKey, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, lstat, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ReleaseManifest, ReleaseProduct } from '@edgeloom/contract/edge/releases.ts';
import type { SignedRelease } from '@edgeloom/contract/edge/releases.ts';
import { countsOf, readRiskPack, RISK_FILE } from '@edgeloom/contract/edge/risk-pack.ts';
import { readWafPack, WAF_FILE } from '@edgeloom/contract/edge/waf-pack.ts';
import { create as createTar } from 'tar';
import * as z from 'zod';
import { agentBuiltFrom, alone, buildAll, layOutAgent, root } from './build.ts';
import { keyFilesIn, makeReleaseKey } from './release-key.ts';

interface Wanted {
  product: ReleaseProduct;
  version: string;
  /** A folder, or one file. */
  from: string;
  to: string;
  key: KeyObject;
  createdAt?: Date;
}

/** Returns the path of the archive. */
export async function makeRelease({ from, to, ...rest }: Wanted) {
  await mkdir(to, { recursive: true });
  const drafts = await mkdtemp(path.join(to, '.making-'));
  try {
    const draft = path.join(drafts, 'archive');
    const isFile = (await lstat(from)).isFile();
    const cwd = isFile ? path.dirname(from) : from;
    // The archive is reproducible: no owner, no times.
    const options = { cwd, file: draft, gzip: { level: 9 }, portable: true, mtime: new Date(0) };
    await createTar(options, isFile ? [path.basename(from)] : await filesOf(from));
    const levels = rest.product === 'risk' ? await levelsIn(isFile ? from : path.join(from, RISK_FILE)) : undefined;
    if (rest.product === 'waf') await assertWafPack(isFile ? from : path.join(from, WAF_FILE), rest.version);
    return await signRelease(draft, { to, levels, ...rest });
  } finally {
    await rm(drafts, { recursive: true, force: true });
  }
}

/** Signs an archive. The manifest is written last, because readers look for it. */
export async function signRelease(
  draft: string,
  { product, version, to, key, createdAt = new Date(), levels }: Omit<Wanted, 'from'> & Pick<ReleaseManifest, 'levels'>,
): Promise<string> {
  const { size } = await lstat(draft);
  const made = {
    product,
    version,
    sha256: await hashOf(draft),
    bytes: size,
    createdAt: createdAt.toISOString(),
    levels,
  };
  const manifest = JSON.stringify(ReleaseManifest.parse(made));
  const signed: SignedRelease = { manifest, signature: sign(null, Buffer.from(manifest), key).toString('base64') };
  const note = `${draft}.json`;
  await writeFile(note, `${JSON.stringify(signed, null, 2)}\n`);
  const archive = path.join(to, `${product}-${version}.tar.gz`);
  await rename(draft, archive);
  await rename(note, archive.replace(/\.tar\.gz$/, '.json'));
  return archive;
}

/** Refuses to sign a pack that nodes would reject. */
async function levelsIn(file: string): Promise<ReleaseManifest['levels']> {
  if (path.basename(file) !== RISK_FILE)
    throw new Error(`a risk pack is a file ${RISK_FILE}: pnpm risk-pack makes one`);
  return countsOf(readRiskPack(await readFile(file)));
}

/** Nodes compare versions of rules by the one in the pack, and operators see that of the release. */
async function assertWafPack(file: string, version: string): Promise<void> {
  if (path.basename(file) !== WAF_FILE)
    throw new Error(`a waf pack is a file ${WAF_FILE}: pnpm waf:pack --to makes one`);
  const pack = readWafPack(await readFile(file));
  if (pack.version !== version)
    throw new Error(`${file} has version ${pack.version}: sign it as that, or raise RULES_VERSION and make it again`);
}

export async function readKey(file: string): Promise<KeyObject> {
  const key = createPrivateKey(await readFile(file));
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(`${file} holds no Ed25519 key: pnpm release:key makes one`);
  return key;
}

/** Builds the agent and makes a release of this version. */
async function makeAgentRelease({
  version,
  ...wanted
}: Omit<Wanted, 'product' | 'from' | 'version'> & { version?: string | undefined }) {
  const named = version ?? (await ownVersion());
  const from = await mkdtemp(path.join(root, '.data/cache/release-'));
  try {
    await layOutAgent(from, named);
    return await makeRelease({ ...wanted, product: 'agent', version: named, from });
  } finally {
    await rm(from, { recursive: true, force: true });
  }
}

/**
 * Makes a release of this checkout's agent for development, with a generated key if there is none. Rebuilt when the
 * sources change.
 */
export async function ensureOwnRelease(dir: string, keyDir = path.join(dir, 'key')): Promise<OwnRelease> {
  await buildAll({ ifChanged: true, only: 'agent' });
  const files = keyFilesIn(keyDir);
  const publicKey = path.join(dir, 'keys.pem');
  const version = await ownVersion();
  const archive = path.join(dir, `agent-${version}.tar.gz`);
  await alone(async () => {
    if (!(await lstat(files.privateKey).catch(() => null))) await makeReleaseKey(keyDir);
    await mkdir(dir, { recursive: true });
    await copyFile(files.publicKey, publicKey);
    const [note, source] = [path.join(dir, 'made-from'), await agentBuiltFrom()];
    const isThere = (await lstat(archive).catch(() => null)) !== null;
    if (isThere && (await readFile(note, 'utf8').catch(() => '')) === source) return;
    const key = await readKey(files.privateKey);
    await makeRelease({ product: 'agent', version, from: path.join(root, 'dist'), to: dir, key });
    await writeFile(note, source);
  });
  return { archive, settings: { RELEASES_DIR: dir, RELEASE_KEYS: publicKey } };
}

export interface OwnRelease {
  archive: string;
  /** Settings of a control plane that offers the release. */
  settings: { RELEASES_DIR: string; RELEASE_KEYS: string };
}

const ownVersion = async () =>
  z.object({ version: z.string() }).parse(JSON.parse(await readFile(path.join(root, 'agent/package.json'), 'utf8')))
    .version;

async function filesOf(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory());
  const odd = files.find((entry) => !entry.isFile());
  if (odd) throw new Error(`${path.join(odd.parentPath, odd.name)} is no file: nodes take files and folders only`);
  return files.map((entry) => path.relative(dir, path.join(entry.parentPath, entry.name))).sort();
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return hash.digest('hex');
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      key: { type: 'string' },
      to: { type: 'string' },
      version: { type: 'string' },
      product: { type: 'string', default: 'agent' },
      from: { type: 'string' },
    },
  });
  const { key = process.env['EDGELOOM_RELEASE_KEY'], to, version, from } = values;
  const product = ReleaseProduct.parse(values.product);
  if (key === undefined || to === undefined) throw new Error('--key (or EDGELOOM_RELEASE_KEY) and --to are needed');
  if (product === 'agent' && from !== undefined)
    throw new Error('the agent is built from this checkout: --from is for packs');
  const wanted = { to, key: await readKey(key) };
  if (product === 'agent') console.log(await makeAgentRelease({ ...wanted, version }));
  else if (version === undefined || from === undefined) throw new Error('a pack needs --version and --from');
  else console.log(await makeRelease({ ...wanted, product, version, from }));
}
