// Packs the Node of the npm package as nodejs.org does, for machines that become nodes. It needs glibc 2.28, as in
// Debian 12 and Rocky Linux 9. `node deploy/node-archive.ts --to DIR`
import { copyFile, link, lstat, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { create } from 'tar';
import * as z from 'zod';
import { alone, root } from './build.ts';

/** Shared by quick start and tests, because the archive depends only on the lock file. */
export const artifactsCache = path.join(root, '.data/cache/artifacts');

/** Creates the archive if it is missing. Returns its path. */
export async function ensureNodeArchive(to: string): Promise<string> {
  const manifest = createRequire(import.meta.url).resolve('node/package.json');
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(await readFile(manifest, 'utf8')));
  const binary = path.join(path.dirname(manifest), 'bin/node');
  const name = `node-v${version}-linux-${process.arch}`;
  const archive = path.join(to, `${name}.tar.gz`);
  await alone(async () => {
    if (await lstat(archive).catch(() => null)) return;
    await mkdir(to, { recursive: true });
    const draft = await mkdtemp(path.join(to, '.making-'));
    try {
      const bin = path.join(draft, name, 'bin');
      await mkdir(bin, { recursive: true });
      await link(binary, path.join(bin, 'node')).catch(() => copyFile(binary, path.join(bin, 'node')));
      const file = path.join(draft, 'archive');
      await create({ cwd: draft, file, gzip: { level: 1 }, portable: true, mtime: new Date(0) }, [name]);
      await rename(file, archive);
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  });
  return archive;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { to: { type: 'string' } } });
  if (values.to === undefined) throw new Error('--to names the folder, ARTIFACTS_DIR of the control plane');
  console.log(await ensureNodeArchive(values.to));
}
