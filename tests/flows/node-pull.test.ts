// Installation by a pasted command.
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import path from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { nodeJobs } from '@edgeloom/contract/node-jobs/node-jobs.endpoints.ts';
import { monitorNodes } from '@edgeloom/contract/monitors/monitors.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { unique } from '../support/builders/build.ts';
import { casesOfRun, longTest } from '../support/builders/long-run.ts';
import { controlPlane, type ControlPlane } from '../support/services/control-plane.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { packNode, startMachine, type Machine, type MachineOptions } from '../support/fakes/machine.ts';
import { freePorts } from '../support/services/ports.ts';
import { ownReleases } from '../support/builders/checkout-release.ts';
import { testDatabase } from '../support/services/shared-services.ts';
import { testDir } from '../support/services/test-dir.ts';
import '../support/assertions/matchers.ts';

let plane: ControlPlane;
let artifacts: string;

beforeAll(async () => {
  artifacts = await testDir();
  await writeFile(path.join(artifacts, 'openresty-1.25.3.2-1.el7.x86_64.rpm'), 'a package');
  await packNode(artifacts, 'node-v20.18.0-linux-x64-glibc-217.tar.gz');
  plane = await controlPlane({
    databaseUrl: await testDatabase(),
    settings: { ...(await ownReleases()), ARTIFACTS_DIR: artifacts },
  });
}, 120_000);
afterAll(() => plane.stop());

async function machine(options: MachineOptions = {}): Promise<Machine> {
  const made = await startMachine(options);
  onTestFinished(() => made.stop());
  return made;
}

/** A node in its own zone, with its own listen address, and a second port without TLS that has PROXY protocol. */
async function node() {
  const zone = await plane.build.zone();
  const [http = 0, https = 0, proxied = 0] = await freePorts(3);
  const { db } = plane.installation;
  await db.zonePort.updateMany({ where: { zoneId: zone.id, tls: false }, data: { port: http } });
  await db.zonePort.updateMany({ where: { zoneId: zone.id, tls: true }, data: { port: https } });
  await db.zonePort.create({ data: { zoneId: zone.id, port: proxied, tls: false } });
  const settings = { visitorAddress: { proxy: 'cloudflare', proxyProtocolPorts: [proxied] } };
  await db.zone.update({ where: { id: zone.id }, data: { settings } });
  const { call } = plane.as(zone.client);
  const body = { name: unique('node'), ip: '127.0.0.1', zoneID: zone.id, portType: '7' as const };
  const { id, joinToken: token, command: line } = await call(nodes.create, { body });
  return { id, call, http, token, line };
}

/** Runs the command from a file, so that the shell's arguments do not contain the token. */
async function paste(made: Machine, line: string) {
  await made.exec(`cat > /root/line <<'END'\n${line.replace('sudo sh', 'sh')}\nEND`);
  return made.exec('sh /root/line > /var/log/said 2>&1 && echo well >> /var/log/said; cat /var/log/said');
}
const left = (made: Machine) =>
  made.exec(
    'ls -d /opt/edgeloom-agent /var/lib/edgeloom /etc/edgeloom /var/tmp/edgeloom-install.* 2>/dev/null || true',
  );

async function statusAt(port: number) {
  const asked = request({ port, host: '127.0.0.1', agent: false }).end();
  const [reply] = await once(asked, 'response');
  reply.resume();
  return reply.statusCode;
}

const seen = `cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' >> /var/log/seen`;
const installs =
  'mkdir -p /usr/local/openresty/nginx/sbin; ln -sfn /usr/sbin/nginx /usr/local/openresty/nginx/sbin/nginx';

test(
  'a bare Rocky Linux 9 becomes a serving node; the command may be repeated there, and on no other machine',
  { timeout: 120_000 },
  async () => {
    const made = await machine({ programs: { dnf: `echo "dnf $*" >> /var/log/calls\n${seen}\n${installs}` } });
    const { id, call, http, token, line } = await node();
    const output = await paste(made, line);
    expect(output).toContain('This machine: rocky 9.4 on x86_64');
    expect(output).toMatch(/it has joined\nport \d+ answers\n\nThis machine is a node now\.\nwell\n$/);
    expect(output).not.toContain('::');
    expect(await statusAt(http)).toBe(903);
    await eventually(async () =>
      expect(await call(nodes.get, { params: { nodeID: id } })).toMatchObject({ initialized: true, status: 'enabled' }),
    );
    expect(await made.read('/etc/edgeloom/agent.env')).toBe(`EDGELOOM_CONTROL=${plane.api.url}\n`);
    expect(await made.read('/var/log/seen')).toContain('/setup');
    expect(await made.read('/var/log/seen')).not.toContain(token);
    expect(output).not.toContain(token);

    const again = await paste(made, line);
    expect(again).toMatch(/agent [0-9a-f]{16} is there/);
    expect(again).toMatch(/well\n$/);
    expect((await made.calls()).filter((call) => call.includes('install'))).toEqual(['dnf -y install openresty']);

    const other = await machine();
    expect(await paste(other, line)).toMatch(/Not installed: this token is no longer good[^\n]*\n$/);
    expect(await left(other)).toBe('');
  },
);

test('a machine becomes a monitor, without nginx', { timeout: 120_000 }, async () => {
  const made = await machine({ programs: { dnf: 'echo "dnf $*" >> /var/log/calls' } });
  const { call } = plane.as((await plane.build.zone()).client);
  const { command } = await call(monitorNodes.create, { body: { name: unique('monitor'), ip: '127.0.0.1' } });
  expect(await paste(made, command)).toMatch(/it has joined\n\nThis machine is a monitor now\.\nwell\n$/);
  await eventually(async () => expect((await call(monitorNodes.list)).data).toMatchObject([{ status: 'enabled' }]));
  expect(await made.read('/etc/edgeloom/agent.env')).toBe(`EDGELOOM_CONTROL=${plane.api.url}\nEDGELOOM_ROLE=monitor\n`);
  expect((await made.calls()).join('\n')).not.toMatch(/openresty|nginx/);
  // The command may be repeated there, and another node's is refused.
  expect(await paste(made, command)).toMatch(/well\n$/);
  expect(await paste(made, (await node()).line)).toMatch(/Not installed: this machine is node [^\n]* already/);
});

longTest.each<[string, MachineOptions, string]>([
  [
    'CentOS 7 is sent OpenResty and a Node that it can run',
    { distribution: 'centos7', node: false },
    'yum -y install ./openresty-1.25.3.2-1.el7.x86_64.rpm',
  ],
  ['Debian 12 serves by its own nginx', { distribution: 'debian12' }, 'systemctl restart edgeloom-agent'],
])('%s', async (_, options, called) => {
  const made = await machine(options);
  const { http, line } = await node();
  expect(await paste(made, line)).toMatch(/This machine is a node now\.\nwell\n$/);
  expect(await statusAt(http)).toBe(903);
  expect(await made.calls()).toContain(called);
});

// `node-install.test.ts` has the second and the third.
const failures = casesOfRun<[string, MachineOptions, RegExp]>(
  [
    [
      'an agent that arrives with other bytes',
      {
        programs: {
          curl: '/usr/bin/curl "$@" || exit\ncase "$*" in *artifact/agent-*) for at; do case "$at" in */agent-*.gz) [ ! -f "$at" ] || echo more >> "$at" ;; esac; done ;; esac',
        },
      },
      /Not installed: agent-[0-9a-f]{16}\.tar\.gz is not what was sent; nothing was changed\n$/,
    ],
    [
      'a system that is not supported',
      { distribution: 'alpine' },
      /Not installed: alpine 3\.20\.0 is not supported[^\n]*\n$/,
    ],
    [
      'a clock that is an hour ahead',
      { programs: { date: 'exec /usr/bin/date -d "+1 hour" "$@"' } },
      /Not installed: the clock of this machine is 3\d{3} s off\n$/,
    ],
  ],
  3,
);
test.each(failures)('%s is reported, and nothing partial remains', async (_, options, expected) => {
  const made = await machine(options);
  const { line } = await node();
  expect(await paste(made, line)).toMatch(expected);
  expect(await left(made)).toBe('');
  expect(await made.calls()).toEqual([]);
});

test('a truncated script does nothing, wherever it ends', async () => {
  const made = await machine();
  const { token } = await node();
  const script = await (await fetch(`${plane.api.url}/api/v1/node/install.sh`)).text();
  const whole = `EDGELOOM_TOKEN=${token}\n${script}`;
  const cut = Array.from({ length: 40 }, (_, i) => whole.slice(0, Math.floor((whole.length * i) / 40)));
  await made.exec(
    [...cut, whole.slice(0, -2)].map((part, i) => `cat > /root/${i} <<'THE_CUT'\n${part}\nTHE_CUT`).join('\n'),
  );
  await made.exec('for at in /root/[0-9]*; do sh "$at" >/dev/null 2>&1 || true; done');
  expect(await left(made)).toBe('');
  expect(await made.calls()).toEqual([]);
});

// Regression: a port with PROXY protocol was expected to respond to curl, and the installation failed.
test('the script of a machine expects responses only from ports without TLS and PROXY protocol', async () => {
  const { http, token } = await node();
  const response = await fetch(`${plane.api.url}/api/v1/node/setup?system=rocky&version=9.4&arch=x86_64`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(await response.text()).toContain(`for port in ${http}; do\n  wait_for answers`);
});

test('files for machines need a token, and other files of the folder are not served', async () => {
  const { token } = await node();
  const ask = async (name: string, bearer: string) =>
    (await fetch(`${plane.api.url}/api/v1/node/${name}`, { headers: { authorization: `Bearer ${bearer}` } })).status;
  expect(await ask('artifact/openresty-1.25.3.2-1.el7.x86_64.rpm', token)).toBe(200);
  expect(await ask('artifact/openresty-1.25.3.2-1.el7.x86_64.rpm', 'another')).toBe(401);
  expect(await ask('artifact/openresty-9.el7.x86_64.rpm', token)).toBe(404);
  expect(await ask('artifact/..%2Fpackage.json', token)).toBe(404);
  expect(await ask('setup?system=rocky&version=9&arch=x86_64', 'another')).toBe(401);
});

test('an operator sees the requirements for a machine to join', async () => {
  const { id, call } = await node();
  const text = await call(nodeJobs.info, { query: { nodeID: id } });
  expect(text).toContain(`control=${plane.api.url}\n`);
  expect(text).toContain(`nodeID=${id}\n`);
  const stranger = plane.as((await plane.build.zone()).client);
  await expect(stranger.call(nodeJobs.info, { query: { nodeID: id } })).toFail('NOT_FOUND');
});
