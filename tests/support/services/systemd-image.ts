// A Debian 12 image with real systemd, sshd and apt, and a local repository of all packages that an installation needs.
import { readFileSync } from 'node:fs';
import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { debianPackages } from '@edgeloom/api/install/scripts.ts';
import { debootstrap, localImage, runProgram } from './local-images.ts';

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

export const systemdImage = localImage(
  'debian12-systemd',
  [readFileSync(import.meta.filename, 'utf8'), ...debianPackages],
  writeFiles,
);

async function writeFiles(root: string): Promise<void> {
  const shell = (script: string) => runProgram('sh', ['-euc', script, 'sh', root]);
  await debootstrap(root, base);
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
}
