// A fake machine to install on: this machine's files under an overlay, with another os-release, its own processes and
// sshd.
// Package managers and systemd are scripts that log their arguments. Needs root for the overlay and the namespaces.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { fingerprintOf } from '@edgeloom/api/install/host.ts';
import { eventually } from '../assertions/eventually.ts';
import { freePorts } from '../services/ports.ts';
import { connect } from 'node:net';

const run = promisify(execFile);

export type Distribution = 'rocky9' | 'centos7' | 'debian12' | 'alpine';
const releases: Readonly<Record<Distribution, string>> = {
  rocky9: 'NAME="Rocky Linux"\nID="rocky"\nVERSION_ID="9.4"\n',
  centos7: 'NAME="CentOS Linux"\nID="centos"\nVERSION_ID="7"\n',
  debian12: 'NAME="Debian GNU/Linux"\nID=debian\nVERSION_ID="12"\n',
  alpine: 'NAME="Alpine Linux"\nID=alpine\nVERSION_ID=3.20.0\n',
};

export interface MachineOptions {
  distribution?: Distribution;
  /** Root's password for SSH. */
  password?: string;
  /** A sudo user with the same password. */
  user?: string;
  /** Puts Node on the PATH. */
  node?: boolean;
  /** Programs that precede the system's: name → shell script. */
  programs?: Readonly<Record<string, string>>;
  /** Numbers of the commands, from 1, after which the connection drops. */
  dropConnectionAt?: readonly number[];
  /** Number of the command at which the machine goes down until `boot`. */
  powerOffAt?: number;
  /** Folders mounted noexec. */
  noExec?: readonly string[];
}

export interface Machine {
  port: number;
  fingerprint: string;
  /** Output of a shell script on the machine. */
  exec: (script: string) => Promise<string>;
  /** Content of a file on the machine. */
  read: (file: string) => Promise<string>;
  /** Calls of package managers and systemd, one per line. */
  calls: () => Promise<string[]>;
  /** Boots the machine after it went down. */
  boot: () => Promise<void>;
  stop: () => Promise<void>;
}

export const fakeSystemctl = `
unit=/etc/systemd/system/edgeloom-agent.service pid=/run/edgeloom-agent.pid log=/var/log/edgeloom-agent.log
echo "systemctl $*" >> /var/log/calls
while [ "\${1#-}" != "$1" ]; do shift; done
alive() { [ -s $pid ] && kill -0 "$(cat $pid)" 2>/dev/null; }
halt() { alive && kill "$(cat $pid)" && for i in $(seq 100); do alive || break; sleep 0.1; done; true; }
case "$1 \${2:-}" in
  'is-active edgeloom-agent') alive ;;
  is-active*) exit 3 ;;
  'restart edgeloom-agent')
    halt
    set -a; . /etc/edgeloom/agent.env; set +a
    setsid $(sed -n 's/^ExecStart=//p' $unit) >> $log 2>&1 < /dev/null &
    echo $! > $pid ;;
  'stop edgeloom-agent') halt ;;
esac
`;
/** Installs this machine's nginx at OpenResty's path. */
const packages = (name: string) => `
echo "${name} $*" >> /var/log/calls
case "$*" in *openresty*)
  mkdir -p /usr/local/openresty/nginx/sbin
  ln -sfn /usr/sbin/nginx /usr/local/openresty/nginx/sbin/nginx ;;
esac
`;
const fakePrograms: Readonly<Record<string, string>> = {
  systemctl: fakeSystemctl,
  journalctl: 'cat /var/log/edgeloom-agent.log',
  dnf: packages('dnf'),
  yum: packages('yum'),
  'apt-get': packages('apt-get'),
  sysctl: 'echo "sysctl $*" >> /var/log/calls',
};

export async function startMachine(options: MachineOptions = {}): Promise<Machine> {
  const {
    distribution = 'rocky9',
    password = 'a machine’s password',
    user,
    node = true,
    dropConnectionAt = [],
    powerOffAt,
    noExec = [],
  } = options;
  const dir = await mkdtemp(path.join(tmpdir(), 'edgeloom-machine-'));
  const files = path.join(dir, 'files');
  const [port = 0] = await freePorts(1);
  const put = async (file: string, text: string, mode = 0o644) => {
    const at = path.join(files, file);
    await mkdir(path.dirname(at), { recursive: true });
    await writeFile(at, text);
    await chmod(at, mode);
  };
  for (const [name, text] of Object.entries({ ...fakePrograms, ...options.programs }))
    await put(`usr/local/sbin/${name}`, `#!/bin/sh\n${text}`, 0o755);
  await put('etc/os-release', releases[distribution]);
  if (distribution === 'rocky9' || distribution === 'centos7') await put('etc/yum.repos.d/base.repo', '[base]\n');
  await put('etc/drops', dropConnectionAt.map((count) => `${count}\n`).join(''));
  await put(
    'usr/local/sbin/each-command',
    `#!/bin/sh
count=$(($(cat /var/commands/count 2>/dev/null || echo 0) + 1))
echo $count > /var/commands/new.$$ && mv -f /var/commands/new.$$ /var/commands/count
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin sh -c "$SSH_ORIGINAL_COMMAND"
code=$?
if grep -qx $count /etc/drops; then kill -KILL $PPID; sleep 1; fi
if [ $count = ${powerOffAt ?? 0} ]; then
  touch /var/commands/down
  kill -KILL $(cat /run/sshd.pid) $PPID
  sleep 1
fi
exit $code
`,
    0o755,
  );
  await put(
    'etc/edgeloom-sshd.conf',
    `ListenAddress 127.0.0.1:${port}
HostKey /etc/edgeloom-host-key
PidFile /run/sshd.pid
PermitRootLogin yes
PasswordAuthentication yes
UsePAM no
StrictModes no
MaxStartups 100
ForceCommand /usr/local/sbin/each-command
`,
  );
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path.join(files, 'etc/edgeloom-host-key')]);
  const [, key = ''] = (await readFile(path.join(files, 'etc/edgeloom-host-key.pub'), 'utf8')).split(' ');
  await put('begin', setupScript({ password, user, node, noExec }), 0o755);

  const child = spawn(
    'unshare',
    ['--mount', '--pid', '--fork', '--kill-child', 'sh', path.join(files, 'begin'), files],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = once(child, 'exit');
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await ended;
    }
    await rm(dir, { recursive: true, force: true });
  };
  try {
    const fell = ended.then(() => Promise.reject(new Error(`the machine did not start: ${output}`)));
    await Promise.race([eventually(() => connectTo(port)), fell]);
    fell.catch(() => undefined);
  } catch (error) {
    await stop();
    throw error;
  }
  const inside = async () => {
    const { stdout } = await run('pgrep', ['-P', String(child.pid)]);
    return stdout.trim().split('\n')[0] ?? '';
  };
  const exec = async (script: string) => {
    const pid = await inside();
    const { stdout } = await run('nsenter', ['-t', pid, '-m', '-p', '-r', '-w', 'sh', '-c', script], {
      maxBuffer: 1 << 24,
      env: { ...process.env, TMPDIR: undefined },
    });
    return stdout;
  };
  return {
    port,
    fingerprint: fingerprintOf(Buffer.from(key, 'base64')),
    exec,
    read: (file) => exec(`cat ${file}`),
    boot: async () => void (await exec('rm /var/commands/down')),
    calls: async () => (await exec('cat /var/log/calls 2>/dev/null || true')).split('\n').filter((line) => line !== ''),
    stop,
  };
}

/** A Node archive in the layout of nodejs.org that runs this machine's Node. The name is in its first lines. */
export async function packNode(folder: string, name: string): Promise<void> {
  const dir = await mkdtemp(path.join(tmpdir(), 'edgeloom-node-'));
  const bin = path.join(dir, 'node-v20/bin');
  await mkdir(bin, { recursive: true });
  await writeFile(path.join(bin, 'node'), `#!/bin/sh\n# ${name}\nexec ${process.execPath} "$@"\n`);
  await chmod(path.join(bin, 'node'), 0o755);
  await run('tar', ['-czf', path.join(folder, name), '-C', dir, 'node-v20']);
  await rm(dir, { recursive: true });
}

interface SetupOptions {
  password: string;
  user: string | undefined;
  node: boolean;
  noExec: readonly string[];
}

const setupScript = ({ password, user, node, noExec }: SetupOptions) => `
set -e
# The folder of the run is not on the machine.
unset TMPDIR
mount --make-rprivate /
files=$1
mount -t tmpfs tmpfs /mnt
mkdir /mnt/upper /mnt/work /mnt/root
cp -a "$files/." /mnt/upper/
chown -R root:root /mnt/upper
mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work /mnt/root
mount -t proc proc /mnt/root/proc
mount --rbind /dev /mnt/root/dev
mount -t tmpfs tmpfs /mnt/root/run
mount -t tmpfs tmpfs /mnt/root/var/log
mkdir -p /mnt/root/run/sshd
mkdir -m 777 /mnt/root/var/commands
rm -rf /mnt/root/opt/edgeloom-agent /mnt/root/var/lib/edgeloom /mnt/root/etc/edgeloom
chmod 600 /mnt/root/etc/edgeloom-host-key
${node ? '' : 'rm -f /mnt/root/usr/bin/node /mnt/root/usr/local/bin/node'}
${user === undefined ? '' : `chroot /mnt/root useradd -m ${user}\nprintf '%s ALL=(ALL) ALL\\n' ${user} > /mnt/root/etc/sudoers.d/${user}`}
chroot /mnt/root chpasswd <<'END'
root:${password}${user === undefined ? '' : `\n${user}:${password}`}
END
${noExec.map((folder) => `mount -t tmpfs -o noexec tmpfs /mnt/root${folder}`).join('\n')}
exec chroot /mnt/root sh -c 'while :; do
  /usr/sbin/sshd -D -e -f /etc/edgeloom-sshd.conf
  while [ -e /var/commands/down ]; do sleep 0.1; done
done'
`;

const connectTo = (port: number) =>
  new Promise<void>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve();
    });
    socket.on('error', reject);
  });
