// A container with real systemd, sshd, apt and nftables and its own network. Its image: systemd-image.ts.
import { GenericContainer, Wait } from 'testcontainers';
import { requireImage } from './local-images.ts';
import { systemdImage } from './systemd-image.ts';

export interface SystemdMachine {
  address: string;
  /** The address of the test's machine as seen from the container. */
  gateway: string;
  /** Output of a shell script. A failing script throws its stderr. */
  exec: (script: string) => Promise<string>;
  stop: () => Promise<void>;
}

// Testcontainers' reaper needs an image from a registry.
process.env['TESTCONTAINERS_RYUK_DISABLED'] ??= 'true';

/** systemd needs private cgroups, and a restart policy for reboots. */
class Machine extends GenericContainer {
  constructor() {
    super(systemdImage.tag);
    Object.assign(this.hostConfig, { CgroupnsMode: 'private', RestartPolicy: { Name: 'always' } });
  }
}

const setupScript = (password: string) => `
for at in /sys/fs/cgroup /sys/fs/cgroup/*; do mountpoint -q "$at" && mount -o remount,bind,rw "$at"; done
[ -e /etc/ssh/ssh_host_ed25519_key ] || ssh-keygen -qA
systemd-machine-id-setup
chpasswd <<'END'
root:${password}
END
exec /sbin/init
`;

export async function startSystemdMachine(password: string): Promise<SystemdMachine> {
  await requireImage(systemdImage);
  const container = await new Machine()
    .withCommand(['sh', '-c', setupScript(password)])
    .withAddedCapabilities('SYS_ADMIN', 'NET_ADMIN')
    .withSecurityOpt('seccomp=unconfined', 'apparmor=unconfined')
    .withTmpFs({ '/run': '', '/run/lock': '', '/tmp': '' })
    .withEnvironment({ container: 'docker' })
    .withWaitStrategy(Wait.forSuccessfulCommand('systemctl is-active ssh'))
    .start();
  const exec = async (script: string) => {
    const { exitCode, output } = await container.exec(['sh', '-c', script]);
    if (exitCode !== 0) throw new Error(`${script}\n${output}`);
    return output;
  };
  const [, gateway = ''] = /default via (\S+)/.exec(await exec('ip route')) ?? [];
  const [, address = ''] = / src (\S+)/.exec(await exec(`ip route get ${gateway}`)) ?? [];
  return { address, gateway, exec, stop: () => container.stop({ timeout: 0 }).then(() => undefined) };
}
