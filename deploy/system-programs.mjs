// Installs missing system programs with Debian's apt without affecting running programs. No service is started or
// enabled.
import { execFile, spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { tryMachineLock, withMachineLock } from './machine-lock.mjs';
import { hasPolicy, revertKilledRun, withoutServices } from './service-policy.mjs';
import { line, step, Trouble } from './steps.mjs';

const run = promisify(execFile);

/** Debian package → a program whose presence suffices, or null if only the package counts. */
const toServe = {
  nginx: 'nginx',
  'libnginx-mod-http-ndk': null,
  'libnginx-mod-http-lua': null,
  'libnginx-mod-stream': null,
  'libnginx-mod-http-geoip2': null,
  'libnginx-mod-stream-geoip2': null,
  'libnginx-mod-http-brotli-filter': null,
  'lua-resty-core': null,
  'lua-resty-lrucache': null,
  'lua-cjson': null,
  'nats-server': 'nats-server',
};
const toTest = {
  'chromium-headless-shell': 'chromium-headless-shell',
  'fonts-noto-cjk': null,
  pebble: 'pebble',
  'pdns-server': 'pdns_server',
  postgresql: null,
  'pdns-backend-sqlite3': null,
  'pdns-backend-geoip': null,
  'openssh-server': 'sshd',
  nftables: 'nft',
  iptables: 'iptables',
  ipset: 'ipset',
  iproute2: 'ss',
  sudo: 'sudo',
  wrk: 'wrk',
};
/** For tests in containers, whose images are built from Debian's packages. */
const toTestLong = {
  'docker.io': 'dockerd',
  'docker-compose': 'docker-compose',
  debootstrap: 'debootstrap',
  'dpkg-dev': 'dpkg-scanpackages',
};

/**
 * Installs missing programs, or throws with the command to run. Removes the policy of a killed installation in `root`,
 * the folder of the system.
 */
export async function ensureSystemPrograms({ forTests, forLongTests, root = '/' }) {
  const wanted = { ...toServe, ...(forTests ? toTest : {}), ...(forLongTests ? toTestLong : {}) };
  const missing = await findMissing(wanted);
  if (missing.length === 0) return revertIfKilled(root);

  const command = `apt-get install -y --no-install-recommends ${missing.join(' ')}`;
  if (!(await isDebian())) {
    throw new Trouble(
      `This machine lacks: ${missing.join(', ')} (names of Debian's packages).\n` +
        'Install them as your system does, or use the containers: docker compose up',
    );
  }
  if (process.getuid() !== 0) throw new Trouble(`This machine lacks some programs. Please run:\n\n  sudo ${command}\n`);

  line(`Installing by apt: ${missing.join(' ')}`);
  line('No system service will be started or enabled.');
  // Another checkout that ends its installation meanwhile would allow the start of services.
  await step('System programs', (report) =>
    withMachineLock(
      'system-programs',
      (lock) => installMissing(wanted, root, report, lock),
      () => report('waiting for another checkout'),
    ),
  );
}

/** Only root can revert. The process that has the lock still runs, and reverts its policy itself. */
async function revertIfKilled(root) {
  if (process.getuid() !== 0 || !(await hasPolicy(root))) return;
  await tryMachineLock('system-programs', () => revertKilledRun(root));
}

/** While this process waited for the lock, another checkout may have installed the programs, or reverted. */
async function installMissing(wanted, root, report, lock) {
  await revertKilledRun(root);
  const missing = await findMissing(wanted);
  if (missing.length === 0) return report('all are installed');
  await withoutServices(() => install(missing, report, lock), root);
}

async function findMissing(wanted) {
  const installed = await installedPackages(Object.keys(wanted));
  // A chosen nginx or OpenResty is assumed to have its modules; the agent checks them.
  const chosen = process.env.EDGELOOM_NGINX;
  const isChosenThere = chosen !== undefined && chosen !== '' && (await isProgram(chosen));
  const missing = [];
  for (const [name, program] of Object.entries(wanted)) {
    if (installed.has(name) || (isChosenThere && /nginx|^lua-/.test(name))) continue;
    if (program !== null && (await findProgram(program))) continue;
    missing.push(name);
  }
  return missing;
}

async function installedPackages(names) {
  const query = ['-W', '-f', '${db:Status-Status} ${Package}\n', ...names];
  // Exits with 1 if a package is unknown, after printing the others.
  const { stdout } = await run('dpkg-query', query).catch((error) => ({ stdout: error.stdout ?? '' }));
  const lines = stdout.split('\n').filter((text) => text.startsWith('installed '));
  return new Set(lines.map((text) => text.slice('installed '.length)));
}

async function findProgram(name) {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/local/sbin', '/usr/sbin', '/sbin', '/usr/local/bin'];
  for (const folder of folders) if (folder !== '' && (await isProgram(path.join(folder, name)))) return true;
  return false;
}

const isProgram = (file) =>
  access(file, constants.X_OK).then(
    () => true,
    () => false,
  );

async function isDebian() {
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '');
  return /^ID(_LIKE)?=.*debian/m.test(release) && (await isProgram('/usr/bin/apt-get'));
}

async function install(names, report, lock) {
  report('reading the package lists');
  await apt(['update'], report, lock);
  await apt(['install', '-y', '--no-install-recommends', ...names], report, lock);
  report(`${names.length} packages`);
}

/** `lock`: a file descriptor. If this process is killed, apt continues, and other checkouts wait until it ends. */
export async function apt(args, report, lock) {
  const child = spawn('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=120', ...args], {
    // needrestart would restart services whose libraries were replaced.
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', NEEDRESTART_SUSPEND: '1', LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'pipe', lock],
  });
  const tail = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      const lines = text.split('\n').filter((part) => part.trim() !== '');
      tail.push(...lines);
      tail.splice(0, tail.length - 30);
      const last = lines.findLast((part) => /^(Get|Unpacking|Setting up|Selecting)/.test(part));
      if (last !== undefined) report(last.replace(/\s+\(.*$/, '').trim());
    });
  }
  // Ctrl-C also reaches apt, which exits at a safe point. We restore everything afterwards.
  const code = await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject));
  if (code !== 0) throw new Trouble(`apt-get ${args[0]} ended with ${code}:\n${tail.join('\n')}`);
}
