// Node installation over a real sshd, on a fake machine of another distribution.
import { once } from 'node:events';
import { copyFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { createServer } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { nodeJobs } from '@edgeloom/contract/node-jobs/node-jobs.endpoints.ts';
import type { NodeStep } from '@edgeloom/contract/node-jobs/node-jobs.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { artifactsCache, ensureNodeArchive } from '../../deploy/node-archive.ts';
import { unique } from '../support/builders/build.ts';
import { casesOfRun, longTest } from '../support/builders/long-run.ts';
import { controlPlane, type ControlPlane } from '../support/services/control-plane.ts';
import { eventually } from '../support/assertions/eventually.ts';
import {
  packNode,
  fakeSystemctl,
  startMachine,
  type Distribution,
  type Machine,
  type MachineOptions,
} from '../support/fakes/machine.ts';
import { freePorts } from '../support/services/ports.ts';
import { ownReleases } from '../support/builders/checkout-release.ts';
import { testDatabase } from '../support/services/shared-services.ts';
import { testDir } from '../support/services/test-dir.ts';
import '../support/assertions/matchers.ts';

const password = 'a machine’s password';
let plane: ControlPlane;
let artifacts: string;

beforeAll(async () => {
  artifacts = await testDir();
  plane = await controlPlane({
    databaseUrl: await testDatabase(),
    settings: {
      NODE_ALLOW: '127.0.0.0/8',
      ...(await ownReleases()),
      ARTIFACTS_DIR: artifacts,
      OPENRESTY_URL: 'http://127.0.0.1:9/package',
    },
  });
}, 120_000);
afterAll(() => plane.stop());

async function machine(options: MachineOptions = {}): Promise<Machine> {
  const made = await startMachine({ password, ...options });
  onTestFinished(() => made.stop());
  return made;
}

/** A node in its own zone, with its own listen address. */
async function node(made: Machine, ssh: object = {}) {
  const zone = await plane.build.zone();
  const [http = 0, https = 0] = await freePorts(2);
  const { db } = plane.installation;
  await db.zonePort.updateMany({ where: { zoneId: zone.id, tls: false }, data: { port: http } });
  await db.zonePort.updateMany({ where: { zoneId: zone.id, tls: true }, data: { port: https } });
  const { call } = plane.as(zone.client);
  const body = {
    name: unique('node'),
    ip: '127.0.0.1',
    zoneID: zone.id,
    portType: '7' as const,
    ssh: { port: made.port, password, ...ssh },
  };
  const { id } = await call(nodes.create, { body });
  return { id, zone, call, http };
}
type Installation = Awaited<ReturnType<typeof node>>;

const begin = async ({ id, call }: Installation, input: object = {}) => {
  const { jobIDs } = await call(nodeJobs.initialize, { body: { ids: [id], ...input } });
  return { nodeID: id, jobID: jobIDs[0] ?? '' };
};
type Job = Awaited<ReturnType<typeof begin>>;
type NodeJob = Received<typeof nodeJobs.get>;

/** Waits for the end of the job. A timeout shows the current step. */
const ended = async ({ call }: Installation, params: Job) =>
  eventually(
    async () => {
      const job = await call(nodeJobs.get, { params });
      if (job.endedAt === null) throw new Error(`it goes on:\n${textOf(job)}`);
      return job;
    },
    { within: 90_000 },
  );
const install = async (made: Installation, input: object = {}) => ended(made, await begin(made, input));
const reasons = ({ steps }: NodeJob) =>
  steps.flatMap(({ name, state, message }) => (state === 'done' ? [] : [`${name} ${state}: ${message}`]));
const textOf = ({ steps }: Pick<NodeJob, 'steps'>) => steps.map(({ output }) => output).join('\n');

const statusAt = (port: number) =>
  new Promise<number | undefined>((resolve, reject) => {
    request({ port, host: '127.0.0.1', agent: false }, (reply) => {
      reply.resume();
      resolve(reply.statusCode);
    })
      .on('error', reject)
      .end();
  });

test(
  'a bare Rocky Linux 9 becomes a serving node; repeating changes nothing; uninstalling removes everything',
  {
    timeout: 180_000,
  },
  async () => {
    const made = await machine({ distribution: 'rocky9' });
    const built = await node(made);
    const job = await install(built);
    expect(reasons(job)).toEqual([]);
    expect(job).toMatchObject({
      state: 'completed',
      system: { id: 'rocky', version: '9.4' },
      fingerprint: made.fingerprint,
    });
    expect(await statusAt(built.http)).toBe(903);
    expect(await made.calls()).toContain('dnf -y install openresty');
    expect(await made.read('/etc/yum.repos.d/openresty.repo')).toContain(
      `baseurl=http://127.0.0.1:9/package/rocky/9/${job.system?.arch}`,
    );
    const shown = await built.call(nodes.get, { params: { nodeID: built.id } });
    expect(shown).toMatchObject({ initialized: true, status: 'enabled' });
    // Credentials are deleted, but not the host key; the token worked once.
    expect(shown.ssh).toMatchObject({ hasPassword: false, hasPrivateKey: false, fingerprint: made.fingerprint });
    expect(await made.read('/etc/edgeloom/agent.env')).toBe(`EDGELOOM_CONTROL=${plane.api.url}\n`);

    const { call, id } = built;
    await call(nodes.update, { body: { id, ssh: { password } } });
    const again = await install(built, { keepSSH: true });
    expect(reasons(again)).toEqual([]);
    expect(textOf(again)).toContain('it is this node already');
    expect(textOf(again)).toMatch(/agent [0-9a-f]{16} is there/);
    expect((await made.calls()).filter((line) => line.includes('install'))).toEqual(['dnf -y install openresty']);
    expect(await statusAt(built.http)).toBe(903);

    // A control plane may run on the same machine.
    await made.exec(
      'mkdir -p /opt/edgeloom /var/lib/edgeloom/secrets && touch /opt/edgeloom/main.ts /etc/edgeloom/api.env',
    );
    await expect(call(nodeJobs.uninstall, { body: { ids: [id] } })).toFail('MULTIPLE', { status: 409 });
    await call(nodes.status, { body: { ids: [id], enabled: false } });
    const { jobIDs } = await call(nodeJobs.uninstall, { body: { ids: [id] } });
    const gone = await ended(built, { nodeID: id, jobID: jobIDs[0] ?? '' });
    expect(reasons(gone)).toEqual([]);
    await eventually(async () => expect(await statusAt(built.http).catch(() => 'nobody')).toBe('nobody'));
    expect(
      await made.exec('ls -d /opt/edgeloom-agent /etc/systemd/system/edgeloom-agent.service 2>/dev/null || true'),
    ).toBe('');
    expect(
      await made.exec(
        'ls -d /opt/edgeloom/* /etc/edgeloom/* /var/lib/edgeloom/* /var/lib/edgeloom/.[!.]* 2>/dev/null || true',
      ),
    ).toBe('/etc/edgeloom/api.env\n/opt/edgeloom/main.ts\n/var/lib/edgeloom/secrets\n');
    expect(await call(nodes.get, { params: { nodeID: id } })).toMatchObject({ initialized: false });
  },
);

longTest(
  'CentOS 7 gets a compatible Node and an OpenResty package, installed by a sudo user',
  {
    timeout: 120_000,
  },
  async () => {
    await put('openresty-1.25.3.2-1.el7.x86_64.rpm', 'a package');
    await put('openresty-1.25.3.2-1.el9.x86_64.rpm', 'another system’s');
    await packNode(artifacts, 'node-v20.18.0-linux-x64-glibc-217.tar.gz');
    const made = await machine({ distribution: 'centos7', node: false, user: 'installer' });
    const built = await node(made, { user: 'installer' });
    const job = await install(built);
    expect(reasons(job)).toEqual([]);
    expect(await made.calls()).toContain('yum -y install /var/tmp/openresty-1.25.3.2-1.el7.x86_64.rpm');
    expect(await made.read('/opt/edgeloom-agent/node/bin/node')).toContain(
      '# node-v20.18.0-linux-x64-glibc-217.tar.gz',
    );
    expect(await statusAt(built.http)).toBe(903);
    expect(JSON.stringify(job)).not.toContain(password);
  },
);

longTest('the installation continues after the machine restarts', { timeout: 180_000 }, async () => {
  const made = await machine({ powerOffAt: 4 });
  const built = await node(made);
  const job = await begin(built);
  const text = async () => textOf(await built.call(nodeJobs.get, { params: job }));
  await eventually(async () => expect(await text()).toContain('ECONNREFUSED'), { within: 60_000 });
  await made.boot();
  const done = await ended(built, job);
  expect(reasons(done)).toEqual([]);
  expect(await statusAt(built.http)).toBe(903);
});

longTest.each<[Distribution, string]>([
  ['debian12', 'its own nginx'],
  ['rocky9', 'OpenResty'],
])(
  '%s serves with %s and the Node of the repository, packed into an archive',
  { timeout: 180_000 },
  async (distribution) => {
    const cached = await ensureNodeArchive(artifactsCache);
    const archive = path.join(artifacts, path.basename(cached));
    await copyFile(cached, archive);
    onTestFinished(() => rm(archive));
    const made = await machine({ distribution, node: false });
    const built = await node(made);
    expect(reasons(await install(built))).toEqual([]);
    expect(await made.exec('/opt/edgeloom-agent/node/bin/node --version')).toBe(`${process.version}\n`);
    expect(await statusAt(built.http)).toBe(903);
  },
);

const luaOfNginx = '/usr/share/nginx/modules-available/mod-http-lua.conf';
longTest.each([
  [
    'is released with the removal',
    'echo disabled',
    ['systemctl unmask nginx.service', 'systemctl disable nginx.service'],
  ],
  ['that was masked before stays so', 'echo masked', []],
])('the service of Debian’s nginx %s', { timeout: 180_000 }, async (_, isEnabled, expected) => {
  const programs = {
    'apt-get': `echo "apt-get $*" >> /var/log/calls; mv /usr/sbin/nginx.away /usr/sbin/nginx; mv ${luaOfNginx}.away ${luaOfNginx}; true`,
    systemctl: `case "$*" in 'is-enabled nginx.service') ${isEnabled}; exit 0 ;; esac\n${fakeSystemctl}`,
  };
  const made = await machine({ distribution: 'debian12', programs });
  await made.exec(`mv /usr/sbin/nginx /usr/sbin/nginx.away; mv ${luaOfNginx} ${luaOfNginx}.away`);
  const built = await node(made);
  expect(reasons(await install(built, { keepSSH: true }))).toEqual([]);
  await built.call(nodes.status, { body: { ids: [built.id], enabled: false } });
  const { jobIDs } = await built.call(nodeJobs.uninstall, { body: { ids: [built.id] } });
  expect(reasons(await ended(built, { nodeID: built.id, jobID: jobIDs[0] ?? '' }))).toEqual([]);
  const calls = await made.calls();
  expect(calls.filter((line) => /^systemctl (unmask|disable) nginx/.test(line))).toEqual(expected);
  expect(calls.includes('systemctl mask nginx.service')).toBe(expected.length > 0);
});

// The test of a restarted machine loses its connection once.
longTest('an installation resumes after repeated disconnects', { timeout: 180_000 }, async () => {
  const dropConnectionAt = [1, 3, 6, 10, 15, 21, 28, 36, 45];
  const made = await machine({ distribution: 'rocky9', dropConnectionAt });
  const built = await node(made);
  const job = await install(built);
  expect(reasons(job)).toEqual([]);
  expect(await statusAt(built.http)).toBe(903);
  const commands = Number(await made.read('/var/commands/count'));
  const met = dropConnectionAt.filter((count) => count <= commands).length;
  expect(met).toBeGreaterThan(3);
  expect(textOf(job).match(/the connection broke/g)).toHaveLength(met);
});

// `certificates.test.ts` has a killed process with the same kind of lease.
longTest('a job of a crashed process is finished by another process', { timeout: 120_000 }, async () => {
  const held = {
    dnf: 'echo "dnf $*" >> /var/log/calls; while [ ! -e /tmp/go ]; do sleep 0.1; done; mkdir -p /usr/local/openresty/nginx/sbin; ln -sfn /usr/sbin/nginx /usr/local/openresty/nginx/sbin/nginx',
  };
  const made = await machine({ programs: held });
  const built = await node(made);
  const params = await begin(built);
  await eventually(async () => expect(await made.calls()).toContain('dnf -y install openresty'), { within: 30_000 });
  await plane.api.kill();
  // As if the time of its lease had passed.
  await plane.installation.db.nodeJob.update({ where: { id: params.jobID }, data: { claimedUntil: new Date() } });
  await made.exec('touch /tmp/go');
  await plane.api.start();
  const job = await ended(built, params);
  expect(reasons(job)).toEqual([]);
  expect(await statusAt(built.http)).toBe(903);
});

const refusals: [string, MachineOptions, object, NodeStep, RegExp][] = [
  [
    'another host key than the one that was compared',
    {},
    { fingerprint: `SHA256:${'A'.repeat(43)}` },
    'connect',
    /^hostKey the machine shows SHA256:/,
  ],
  ['a wrong password', {}, { password: 'not this' }, 'connect', /^credentials root was not let in$/],
  ['a user who may not become root', { user: 'somebody' }, { user: 'nobody-else' }, 'connect', /^credentials/],
  ['a port where nobody answers', {}, { port: 9 }, 'connect', /^unreachable /],
  ['a system that is not supported', { distribution: 'alpine' }, {}, 'detect', /^unsupported alpine 3\.20\.0/],
  [
    'a clock that is an hour ahead',
    { programs: { date: 'exec /usr/bin/date -d "+1 hour" "$@"' } },
    {},
    'check',
    /^clock 3\d{3} s ahead$/,
  ],
  [
    'a disk that is full',
    { programs: { df: 'echo h; echo "x 100 100 1024 99% /"' } },
    {},
    'check',
    /^space \/var\/lib\/edgeloom has 1 MB free, 2048 MB are needed$/,
  ],
  [
    'a folder for programs that is mounted noexec',
    { noExec: ['/opt'] },
    {},
    'check',
    /^noExec the file system of \/opt\/edgeloom-agent is mounted noexec/,
  ],
  [
    'packages that cannot be fetched',
    { programs: { dnf: 'echo "Errors during downloading metadata" >&2; exit 1' } },
    {},
    'server',
    /^package OpenResty was not installed/,
  ],
];

test('the refusals of a short run have each step of the long run', () => {
  const steps = (cases: typeof refusals) => new Set(cases.map(([, , , step]) => step));
  expect(steps(casesOfRun(refusals, 2))).toEqual(steps(refusals));
});

test.each(casesOfRun(refusals, 2))(
  '%s is reported, and nothing partial remains',
  async (_, options, ssh, step, expected) => {
    const made = await machine(options);
    const built = await node(made, ssh);
    const job = await install(built);
    const failed = job.steps.find(({ state }) => state === 'failed');
    expect(failed?.name).toBe(step);
    expect(`${failed?.fault} ${failed?.message}`).toMatch(expected);
    expect(job.state).toBe('failed');
    const after = job.steps.slice(job.steps.findIndex(({ name }) => name === step) + 1);
    expect(after.every(({ state }) => state === 'waiting')).toBe(true);
    expect(await made.exec('ls -d /opt/edgeloom-agent /var/lib/edgeloom /etc/edgeloom 2>/dev/null || true')).toBe('');
  },
);

test(
  'a port in use is reported; once it is free, a retry completes the installation',
  {
    timeout: 120_000,
  },
  async () => {
    const made = await machine();
    const built = await node(made);
    const other = createServer().listen(built.http, '127.0.0.1');
    onTestFinished(() => void other.close());
    await once(other, 'listening');
    const params = await begin(built);
    const job = await ended(built, params);
    expect(job.steps.find(({ name }) => name === 'check')).toMatchObject({ state: 'failed', fault: 'portTaken' });
    other.close();
    await once(other, 'close');
    await built.call(nodeJobs.retry, { params });
    expect(reasons(await ended(built, params))).toEqual([]);
    expect(await statusAt(built.http)).toBe(903);
  },
);

test('the host key is shown before signing in, and internal addresses are not contacted', async () => {
  const made = await machine();
  const zone = await plane.build.zone();
  const { call } = plane.as(zone.client);
  const look = (ip: string, port: number) => call(nodeJobs.hostKey, { body: { ip, port } });
  expect(await look('127.0.0.1', made.port)).toEqual({ fingerprint: made.fingerprint });
  await expect(look('127.0.0.1', 9)).toFail('NODE_UNREACHABLE');
  await expect(look('169.254.169.254', 22)).toFail('PARAMETER', {
    errorData: [expect.objectContaining({ path: 'ip' })],
  });
});

test('progress is streamed without secrets, and the job can be cancelled', async () => {
  const held = {
    dnf: `echo "the password is ${password}"; echo "dnf $*" >> /var/log/calls; while true; do sleep 0.1; done`,
  };
  const made = await machine({ programs: held });
  const built = await node(made);
  const params = await begin(built);
  const seen = new Map<string, string>();
  let state = '';
  for await (const event of await built.call(nodeJobs.events, { params })) {
    ({ state } = event);
    for (const { name, more } of event.steps) seen.set(name, (seen.get(name) ?? '') + more);
    if (seen.get('server')?.includes('the password is') && state === 'processing')
      await built.call(nodeJobs.cancel, { params });
  }
  expect(state).toBe('cancelled');
  expect(seen.get('server')).toContain('the password is •••');
  expect([...seen.values()].join('')).not.toContain(password);
  const { steps } = await built.call(nodeJobs.get, { params });
  expect(Object.fromEntries(steps.map(({ name, output }) => [name, output]))).toMatchObject(Object.fromEntries(seen));
});

async function put(name: string, text: string) {
  const file = path.join(artifacts, name);
  onTestFinished(() => rm(file));
  await writeFile(file, text);
}
