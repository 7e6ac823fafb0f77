// A machine with real systemd, sshd, apt and nftables, in a container with a network of its own. Its image: systemd-image.ts.
import { GenericContainer, Wait } from 'testcontainers';
import { systemdImage } from './systemd-image.ts';

export interface SystemdMachine {
  address: string;
  /** What this machine is called there. */
  gateway: string;
  /** What a shell on it answers; throws what it complains of. */
  ask: (script: string) => Promise<string>;
  stop: () => Promise<void>;
}

// The program that ends containers of killed runs is an image of its own, which no test fetches.
process.env['TESTCONTAINERS_RYUK_DISABLED'] ??= 'true';

/** What systemd needs: control groups of its own, and somebody who starts the machine again after a reboot. */
class Machine extends GenericContainer {
  constructor() {
    super(systemdImage);
    Object.assign(this.hostConfig, { CgroupnsMode: 'private', RestartPolicy: { Name: 'always' } });
  }
}

const begin = (password: string) => `
for at in /sys/fs/cgroup /sys/fs/cgroup/*; do mountpoint -q "$at" && mount -o remount,bind,rw "$at"; done
[ -e /etc/ssh/ssh_host_ed25519_key ] || ssh-keygen -qA
systemd-machine-id-setup
chpasswd <<'END'
root:${password}
END
exec /sbin/init
`;

export async function startSystemdMachine(password: string): Promise<SystemdMachine> {
  const container = await new Machine()
    .withCommand(['sh', '-c', begin(password)])
    .withAddedCapabilities('SYS_ADMIN', 'NET_ADMIN')
    .withSecurityOpt('seccomp=unconfined', 'apparmor=unconfined')
    .withTmpFs({ '/run': '', '/run/lock': '', '/tmp': '' })
    .withEnvironment({ container: 'docker' })
    .withWaitStrategy(Wait.forSuccessfulCommand('systemctl is-active ssh'))
    .start();
  const ask = async (script: string) => {
    const { exitCode, output } = await container.exec(['sh', '-c', script]);
    if (exitCode !== 0) throw new Error(`${script}\n${output}`);
    return output;
  };
  const [, gateway = ''] = /default via (\S+)/.exec(await ask('ip route')) ?? [];
  const [, address = ''] = / src (\S+)/.exec(await ask(`ip route get ${gateway}`)) ?? [];
  return { address, gateway, ask, stop: () => container.stop({ timeout: 0 }).then(() => undefined) };
}
