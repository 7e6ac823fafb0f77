// Builds a Debian 12 image with real systemd, sshd and apt, and a local repository of all packages that an installation
// needs.
// `node tests/support/services/systemd-image.ts` builds it once; needs root, Docker, debootstrap and dpkg-dev.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { debianPackages } from '@edgeloom/api/install/scripts.ts';

const run = promisify(execFile);

export const systemdImage = 'edgeloom-test/debian12-systemd:1';
const MIRROR = 'http://deb.debian.org/debian';
/** Packages of a typical server image. */
const base = [
  'systemd',
  'systemd-sysv',
  'dbus',
  'openssh-server',
  'sudo',
  'curl',
  'iproute2',
  'procps',
  'nftables',
  'logrotate',
];

/** Why the systemd tests must be skipped, or null. */
export async function systemdSkipReason(): Promise<string | null> {
  try {
    await run('docker', ['info']);
  } catch {
    return 'no Docker daemon';
  }
  return run('docker', ['image', 'inspect', systemdImage]).then(
    () => null,
    () => 'node tests/support/services/systemd-image.ts makes its image',
  );
}

async function buildImage(): Promise<void> {
  const dir = await mkdtemp(path.join(tmpdir(), 'edgeloom-systemd-'));
  const root = path.join(dir, 'root');
  const shell = (script: string) => runVerbose('sh', ['-euc', script, 'sh', root]);
  try {
    await runVerbose('debootstrap', ['--variant=minbase', `--include=${base.join(',')}`, 'bookworm', root, MIRROR]);
    await shell(`chroot "$1" sh -euc '
      rm -f /var/cache/apt/archives/*.deb
      apt-get update
      apt-get install -y --download-only --no-install-recommends ${debianPackages.join(' ')}
      rm -rf /var/lib/apt/lists/*'`);
    const packages = path.join(root, 'srv/packages');
    const archives = path.join(root, 'var/cache/apt/archives');
    await mkdir(packages, { recursive: true });
    for (const name of await readdir(archives)) {
      if (!name.endsWith('.deb')) continue;
      await cp(path.join(archives, name), path.join(packages, name));
      await rm(path.join(archives, name));
    }
    await shell('cd "$1/srv/packages" && dpkg-scanpackages --multiversion . > Packages');
    await writeFile(path.join(root, 'etc/apt/sources.list'), 'deb [trusted=yes] file:/srv/packages ./\n');
    // A container has no consoles and no udev. Each machine generates its own host keys.
    await shell(`
      rm -f "$1"/etc/ssh/ssh_host_* "$1"/etc/machine-id
      for unit in getty.target console-getty.service systemd-udevd.service e2scrub_reap.service; do
        ln -sf /dev/null "$1/etc/systemd/system/$unit"
      done
      sed -i 's/^#PermitRootLogin.*/PermitRootLogin yes/' "$1/etc/ssh/sshd_config"`);
    await shell(`tar -C "$1" -c . | docker import - ${systemdImage}`);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Runs a program with its output on the terminal. */
async function runVerbose(program: string, args: readonly string[]): Promise<void> {
  const child = spawn(program, args, { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${program} ended with ${String(code)}`);
}

if (import.meta.main) await buildImage();
