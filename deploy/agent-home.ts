// Lays out the folder that an agent is started from, as the installation scripts do (apps/api/src/install/scripts.ts).
import { chmod, copyFile, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { Home } from '@edgeloom/agent/upgrade/home.ts';
import { byAge, ReleaseManifest, releaseName, SignedRelease } from '@edgeloom/contract/edge/releases.ts';

/** Returns the launcher. A newer release that was installed by an upgrade stays. */
export async function ensureAgentHome(dir: string, archive: string): Promise<string> {
  const signed = SignedRelease.parse(JSON.parse(await readFile(archive.replace(/\.tar\.gz$/, '.json'), 'utf8')));
  const manifest = ReleaseManifest.parse(JSON.parse(signed.manifest));
  const launcher = path.join(dir, 'launch');
  const { releases } = new Home(dir);
  const current = await releases.current();
  const used = current === null ? null : await releases.manifestOf(current);
  if (used !== null && byAge(manifest, used) >= 0) return launcher;
  const name = releaseName(manifest.sha256);
  await mkdir(path.join(dir, 'node/bin'), { recursive: true });
  await rm(path.join(dir, 'node/bin/node'), { force: true });
  await symlink(process.execPath, path.join(dir, 'node/bin/node'));
  if (!(await releases.hasRun(name))) await releases.put(name, archive, signed);
  await copyFile(releases.path(name, 'launch'), `${launcher}.new`);
  await chmod(`${launcher}.new`, 0o755);
  await rename(`${launcher}.new`, launcher);
  await releases.markUsed(name);
  await releases.point(name);
  await releases.prune();
  return launcher;
}
