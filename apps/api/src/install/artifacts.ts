// What a machine needs of us, decided once for those that are reached by SSH and those that come for it themselves.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { create as createTar } from 'tar';
import { remembering } from '../core/remembering.ts';
import type { Env } from '../env.ts';
import { StepFailure } from './host.ts';
import type { Packages } from './scripts.ts';

export interface System {
  id: string;
  version: string;
  arch: string;
}

/** Which systems we install on, and by which program. */
export function packagesOf({ id, version, arch }: System): Packages {
  const [major = ''] = version.split('.');
  if (arch !== 'x86_64' && arch !== 'aarch64') throw new StepFailure('unsupported', `${arch} is not supported`);
  if (['rocky', 'almalinux', 'rhel'].includes(id) && major === '9') return 'dnf';
  if (id === 'centos' && major === '7') return 'yum';
  if (id === 'debian' && Number(major) >= 12) return 'apt';
  throw new StepFailure('unsupported', `${id} ${version} is not supported: Rocky Linux 9, CentOS 7 and Debian 12 are`);
}

type Settings = Pick<Env, 'AGENT_DIR' | 'ARTIFACTS_DIR' | 'OPENRESTY_URL'>;
type Server =
  | { from: 'distribution' }
  | { from: 'file'; file: string }
  | { from: 'repository'; repository: string; key: string };

export async function serverOf(system: System, { ARTIFACTS_DIR, OPENRESTY_URL }: Settings): Promise<Server> {
  if (packagesOf(system) === 'apt') return { from: 'distribution' };
  const [major = ''] = system.version.split('.');
  const file = await newest(
    ARTIFACTS_DIR,
    new RegExp(`^openresty-\\d[\\w.+~-]*\\.el${major}[\\w.+~-]*\\.${system.arch}\\.rpm$`),
  );
  if (file !== null) return { from: 'file', file };
  const repository = `${OPENRESTY_URL}/${system.id === 'centos' ? 'centos' : 'rocky'}/${major}/${system.arch}`;
  return { from: 'repository', repository, key: `${OPENRESTY_URL}/pubkey.gpg` };
}

type Runtime =
  | { from: 'distribution' }
  | { from: 'file'; file: string; compression: 'z' | 'J' }
  | { from: 'nowhere'; why: string };

/** Where none is there that is new enough. */
export async function runtimeOf(system: System, { ARTIFACTS_DIR }: Settings): Promise<Runtime> {
  const arch = system.arch === 'aarch64' ? 'arm64' : 'x64';
  const old = system.id === 'centos' ? '-glibc-217' : '';
  const file = await newest(ARTIFACTS_DIR, new RegExp(`^node-v2\\d[\\d.]*-linux-${arch}${old}\\.tar\\.[gx]z$`));
  if (file !== null) return { from: 'file', file, compression: file.endsWith('xz') ? 'J' : 'z' };
  if (packagesOf(system) === 'dnf') return { from: 'distribution' };
  return { from: 'nowhere', why: `put node-v20…-linux-${arch}${old}.tar.gz into ARTIFACTS_DIR of the control plane` };
}

/** The last by name of those that fit. */
async function newest(dir: string | undefined, fits: RegExp): Promise<string | null> {
  if (dir === undefined) return null;
  const names = await readdir(dir).catch(() => []);
  const found = names
    .filter((name) => fits.test(name))
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
    .at(-1);
  return found === undefined ? null : path.join(dir, found);
}

export interface Release {
  /** Names what is in it. */
  name: string;
  file: string;
  packed: Buffer;
  sha256: string;
}

/** The agent, packed once as long as its files are the same. Two processes pack the same bytes. */
export async function releaseOf({ AGENT_DIR: dir }: Settings): Promise<Release> {
  if (dir === undefined) throw new StepFailure('artifact', 'AGENT_DIR of the control plane names no agent');
  const files = await filesOf(dir);
  if (!files.includes('agent.mjs'))
    throw new StepFailure('artifact', 'AGENT_DIR of the control plane holds no agent.mjs');
  const states = await Promise.all(files.map((file) => stateOf(path.join(dir, file))));
  return packedOnce(dir, JSON.stringify([files, states]), async () => {
    const hash = createHash('sha256');
    for (const file of files) hash.update(`${file}\0`).update(await readFile(path.join(dir, file)));
    const name = hash.digest('hex').slice(0, 16);
    const tar = createTar({ cwd: dir, portable: true, mtime: new Date(0) }, files);
    // Not by tar itself, which would keep everybody waiting meanwhile.
    const packed = await promisify(gzip)(Buffer.concat(await Array.fromAsync(tar)));
    return { name, file: `agent-${name}.tar.gz`, packed, sha256: sha256Of(packed) };
  });
}

/** What lies there by this name for machines; nothing else of the folder is anybody's. */
export async function findArtifact(name: string, settings: Settings): Promise<AsyncIterable<Uint8Array> | null> {
  const { ARTIFACTS_DIR: dir } = settings;
  if (name.startsWith('agent-')) {
    const release = await releaseOf(settings);
    return release.file === name ? piecesOf(release.packed) : null;
  }
  if (dir === undefined || !/^(openresty-\d[\w.+~-]*\.rpm|node-v2\d[\w.-]*\.tar\.[gx]z)$/.test(name)) return null;
  return (await readdir(dir).catch((): string[] => [])).includes(name) ? createReadStream(path.join(dir, name)) : null;
}

const PIECE = 65_536;
export async function* piecesOf(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE);
}

const packedOnce = remembering<Release>();

const sha256Of = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

async function stateOf(file: string): Promise<string> {
  const { size, mtimeMs, ino } = await stat(file);
  return `${size} ${mtimeMs} ${ino}`;
}

async function filesOf(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { recursive: true });
  const files = await Promise.all(
    entries.map(async (name) => ((await stat(path.join(dir, name))).isFile() ? [name] : [])),
  );
  return files.flat().sort();
}
