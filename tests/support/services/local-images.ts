// Images that are built from Debian's packages, because no registry may be in reach.
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { hasDocker } from './docker-daemon.ts';

const run = promisify(execFile);
const root = path.join(import.meta.dirname, '../../..');
const MIRROR = 'http://deb.debian.org/debian';
const MAX_OUTPUT_LINES = 30;

export interface LocalImage {
  /** Changes with the sources, so that no test runs in an image of older ones. */
  tag: string;
  /** Writes the image's files. */
  write: (folder: string) => Promise<void>;
}

export function localImage(name: string, sources: readonly string[], write: LocalImage['write']): LocalImage {
  const hash = createHash('sha256').update(sources.join('\0')).digest('hex');
  return { tag: `edgeloom-test/${name}:${hash.slice(0, 12)}`, write };
}

const exists = ({ tag }: LocalImage) =>
  run('docker', ['image', 'inspect', tag]).then(
    () => true,
    () => false,
  );

/** Builds the image if it does not exist, in place of its older versions. */
export async function ensureImage(image: LocalImage): Promise<'current' | 'built'> {
  if (await exists(image)) return 'current';
  const [repository = ''] = image.tag.split(':');
  const { stdout } = await run('docker', ['images', '--quiet', repository]);
  const older = new Set(stdout.split('\n').filter(Boolean));
  if (older.size > 0) await run('docker', ['image', 'rm', '--force', ...older]);
  // Not in the temporary folder, which may be too small, or mounted without devices.
  const dir = path.join(root, '.data/docker/image');
  await rm(dir, { recursive: true, force: true });
  await mkdir(dir, { recursive: true });
  try {
    const files = path.join(dir, 'root');
    await image.write(files);
    await runProgram('sh', ['-euc', `tar -C "$1" -c . | docker import - ${image.tag}`, 'sh', files]);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
  return 'built';
}

/** Throws a sentence that says what a test in containers lacks. */
export async function requireImage(image: LocalImage): Promise<void> {
  const remedy = 'npm run test:long starts a daemon and builds the images, as root on Debian.';
  if (!(await hasDocker())) throw new Error(`No Docker daemon answers. ${remedy}`);
  if (!(await exists(image))) throw new Error(`The image ${image.tag} is missing. ${remedy}`);
}

const apart = ['--mount', '--pid', '--fork', '--kill-child'];
/** Installs Debian 12 with some packages in a folder. Its mounts and processes end with it. */
export const debootstrap = (folder: string, packages: readonly string[]) =>
  runProgram('unshare', [
    ...apart,
    'debootstrap',
    '--variant=minbase',
    `--include=${packages.join(',')}`,
    'bookworm',
    folder,
    MIRROR,
  ]);

/** Runs a program, and throws the end of its output if it fails. */
export async function runProgram(program: string, args: readonly string[], options: object = {}): Promise<void> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  let tail = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      tail = (tail + text).split('\n').slice(-MAX_OUTPUT_LINES).join('\n');
    });
  const code = await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject));
  if (code !== 0) throw new Error(`${program} ended with ${String(code)}:\n${tail}`);
}
