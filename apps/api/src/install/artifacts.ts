// Selects the files that a machine needs, for installations by SSH and by pull.
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { releaseName } from '@edgeloom/contract/edge/releases.ts';
import type { SignedRelease } from '@edgeloom/contract/edge/releases.ts';
import type { Env } from '../core/env.ts';
import { latestOf, releasesIn } from '../releases/store.ts';
import type { ReleaseSettings } from '../releases/store.ts';
import { StepFailure } from './host.ts';
import type { Packages } from './scripts.ts';

export interface System {
  id: string;
  version: string;
  arch: string;
}

/** Supported systems and their package managers. */
export function packagesOf({ id, version, arch }: System): Packages {
  const [major = ''] = version.split('.');
  if (arch !== 'x86_64' && arch !== 'aarch64') throw new StepFailure('unsupported', `${arch} is not supported`);
  if (['rocky', 'almalinux', 'rhel'].includes(id) && major === '9') return 'dnf';
  if (id === 'centos' && major === '7') return 'yum';
  if (id === 'debian' && Number(major) >= 12) return 'apt';
  throw new StepFailure('unsupported', `${id} ${version} is not supported: Rocky Linux 9, CentOS 7 and Debian 12 are`);
}

type Settings = ReleaseSettings & Pick<Env, 'ARTIFACTS_DIR' | 'OPENRESTY_URL'>;
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

/** Used where no recent Node is installed. */
export async function runtimeOf(system: System, { ARTIFACTS_DIR }: Settings): Promise<Runtime> {
  const arch = system.arch === 'aarch64' ? 'arm64' : 'x64';
  const old = system.id === 'centos' ? '-glibc-217' : '';
  const file = await newest(ARTIFACTS_DIR, new RegExp(`^node-v2\\d[\\d.]*-linux-${arch}${old}\\.tar\\.[gx]z$`));
  if (file !== null) return { from: 'file', file, compression: file.endsWith('xz') ? 'J' : 'z' };
  if (packagesOf(system) === 'dnf') return { from: 'distribution' };
  return { from: 'nowhere', why: `put node-v20…-linux-${arch}${old}.tar.gz into ARTIFACTS_DIR of the control plane` };
}

/** The last matching file by name. */
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
  /** Its name on machines. */
  name: string;
  /** Its name during transfer. */
  file: string;
  archive: string;
  sha256: string;
  signed: SignedRelease;
}

/** The newest release of the agent. */
export async function releaseOf(settings: Settings): Promise<Release> {
  const found = await releasesIn(settings);
  const latest = latestOf(found, 'agent');
  if (latest) {
    const { sha256 } = latest.manifest;
    const name = releaseName(sha256);
    return { name, file: `agent-${name}.tar.gz`, archive: latest.file, sha256, signed: latest.signed };
  }
  const [first] = found.refused;
  const why = first ? `: ${first.name}: ${first.reason}` : '';
  throw new StepFailure('artifact', `RELEASES_DIR of the control plane holds no release of the agent${why}`);
}

/** A file that machines may download. No other file of the folder is accessible. */
export async function findArtifact(name: string, settings: Settings): Promise<AsyncIterable<Uint8Array> | null> {
  const { ARTIFACTS_DIR: dir } = settings;
  if (name.startsWith('agent-')) {
    const release = await releaseOf(settings);
    return release.file === name ? createReadStream(release.archive) : null;
  }
  if (dir === undefined || !/^(openresty-\d[\w.+~-]*\.rpm|node-v2\d[\w.-]*\.tar\.[gx]z)$/.test(name)) return null;
  return (await readdir(dir).catch((): string[] => [])).includes(name) ? createReadStream(path.join(dir, name)) : null;
}
