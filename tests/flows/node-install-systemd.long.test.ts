// Node installation under real systemd, with real apt and nftables.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { cacheRules } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { nodeJobs } from '@edgeloom/contract/node-jobs/node-jobs.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { artifactsCache, ensureNodeArchive } from '../../deploy/node-archive.ts';
import { unique } from '../support/builders/build.ts';
import { collectedStops } from '../support/services/collected-stops.ts';
import { controlPlane } from '../support/services/control-plane.ts';
import type { ControlPlane } from '../support/services/control-plane.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { startOrigin } from '../support/fakes/origin.ts';
import type { Origin } from '../support/fakes/origin.ts';
import { freePorts } from '../support/services/ports.ts';
import { ownReleases } from '../support/builders/checkout-release.ts';
import { testDatabase } from '../support/services/shared-services.ts';
import { startSystemdMachine } from '../support/services/systemd-machine.ts';
import type { SystemdMachine } from '../support/services/systemd-machine.ts';
import { visit } from '../support/assertions/visit.ts';

const password = 'a machine’s password';
const within = { within: 60_000 };

describe('a node under real systemd', () => {
  const { onEnd, stopAll } = collectedStops();
  let machine: SystemdMachine;
  let plane: ControlPlane;
  let origin: Origin;
  let call: ReturnType<ControlPlane['as']>['call'];
  let id = '';
  let name = '';

  beforeAll(async () => {
    machine = await startSystemdMachine(password);
    onEnd(() => machine.stop());
    const { gateway, address } = machine;
    const [api = 0, nats = 0] = await freePorts(2, gateway);
    plane = await controlPlane({
      databaseUrl: await testDatabase(),
      settings: {
        NODE_ALLOW: `${address}/32`,
        ORIGIN_ALLOW: `${gateway}/32`,
        NODE_CONTROL_URL: `http://${gateway}:${api}`,
        NODE_NATS_URLS: `nats://${gateway}:${nats}`,
        ...(await ownReleases()),
        ARTIFACTS_DIR: path.dirname(await ensureNodeArchive(artifactsCache)),
      },
    });
    onEnd(() => plane.stop());
    onEnd(await lead(gateway, api, plane.api.url));
    onEnd(await lead(gateway, nats, plane.nats.url));
    origin = await startOrigin({ host: gateway });
    onEnd(() => origin.stop());

    const zone = await plane.build.zone();
    const product = await plane.build.product({ zone });
    const site = await plane.build.site({ product });
    const { params } = site;
    const customer = plane.as(site.owner);
    name = `${unique('www')}.example.com`;
    const upstreams = [{ address: gateway, port: origin.port }];
    await customer.call(domains.create, { params, body: { domains: [{ name, upstreams }] } });
    const rule = { type: 'fileType' as const, value: ['js'], cacheTime: 3600 };
    await customer.call(cacheRules.create, { params, body: { rules: [rule] } });
    ({ call } = plane.as(zone.client));
    const body = { name: unique('node'), ip: address, zoneID: zone.id, ssh: { password } };
    ({ id } = await call(nodes.create, { body }));
    const { jobIDs } = await call(nodeJobs.initialize, { body: { ids: [id], keepSSH: true } });
    await ended(jobIDs[0] ?? '');
  }, 300_000);
  afterAll(stopAll);

  const ended = (jobID: string) =>
    eventually(
      async () => {
        const job = await call(nodeJobs.get, { params: { nodeID: id, jobID } });
        const words = job.steps.map((step) => `${step.name} ${step.state} ${step.message}\n${step.output}`).join('\n');
        if (job.state !== 'completed') throw new Error(words);
      },
      { within: 180_000 },
    );
  const asked = (at = '/app.js') => visit(80, name, at, machine.address);
  const shown = async (property: string) => (await machine.exec(`systemctl show -P ${property} edgeloom-agent`)).trim();
  const master = async () => (await machine.exec('cat /var/lib/edgeloom/run/nginx.pid')).trim();
  const connected = () =>
    eventually(
      async () => expect(await call(nodes.get, { params: { nodeID: id } })).toMatchObject({ status: 'enabled' }),
      within,
    );

  test("the node serves with unprivileged workers, and the unit's limits do not interfere", async () => {
    origin.on('/app.js', { headers: { 'content-type': 'text/javascript' }, body: 'of the origin' });
    await eventually(async () => expect(await asked()).toMatchObject({ status: 200, body: 'of the origin' }), within);
    await eventually(async () => expect((await asked()).cache).toBe('hit'));
    expect(await shown('ActiveState')).toBe('active');
    expect(await shown('NRestarts')).toBe('0');
    expect(await machine.exec('ps -o user= -C nginx | sort | uniq')).toBe('root\nwww-data\n');
    const words = await machine.exec('journalctl -u edgeloom-agent --no-pager -o cat');
    expect(words).not.toMatch(/EPERM|EACCES|EROFS|not permitted|denied|"level":"(warn|error)"/i);
    const { error } = await call(nodes.get, { params: { nodeID: id } });
    expect(error).toBeNull();
  });

  test('a killed agent is restarted; a stopped one leaves nginx running', async () => {
    const [nginx, before] = [await master(), await shown('MainPID')];
    await machine.exec(`kill -KILL ${before}`);
    await eventually(async () => {
      const now = await shown('MainPID');
      expect(Number(now)).toBeGreaterThan(1);
      expect(now).not.toBe(before);
    }, within);
    expect(await master()).toBe(nginx);
    await connected();
    await machine.exec('systemctl stop edgeloom-agent');
    expect(await asked()).toMatchObject({ status: 200 });
    expect(await master()).toBe(nginx);
    await machine.exec('systemctl start edgeloom-agent');
    await connected();
    expect(await master()).toBe(nginx);
  });

  test('Geneva rules are in nftables, and are restored after the firewall was flushed', async () => {
    const rules = () => machine.exec('nft list ruleset');
    await call(nodes.geneva, { body: { ids: [id], packetSize: 88, windowSize: 17 } });
    const stands = () =>
      eventually(async () => expect(await rules()).toMatch(/window set 17[^]*maxseg size set 88/), within);
    await stands();
    await machine.exec('nft flush ruleset');
    await stands();
  });

  test('logs are rotated by command, and by logrotate without the agent', async () => {
    const logs = () => machine.exec('ls /var/lib/edgeloom/logs');
    await call(nodes.logRotate, { body: { ids: [id] } });
    expect(await logs()).toMatch(/^access\.json\.\d/m);
    await eventually(async () => {
      await asked();
      expect(await machine.exec('cat /var/lib/edgeloom/logs/access.json')).toContain('/app.js');
    }, within);
    const words = await machine.exec('logrotate --force --verbose /etc/logrotate.d/edgeloom 2>&1');
    expect(words).not.toMatch(/error:/);
    expect(await logs()).toMatch(/^access\.json\.1$/m);
    await eventually(async () => {
      await asked();
      expect(await machine.exec('cat /var/lib/edgeloom/logs/access.json')).toContain('/app.js');
    }, within);
  });

  test(
    'the machine reboots by command and serves from disk without a control plane',
    { timeout: 180_000 },
    async () => {
      const boot = () => machine.exec('stat -c %Z /proc/1');
      const before = await boot();
      await asked();
      await call(nodes.reboot, { body: { ids: [id] } });
      await plane.api.kill();
      await plane.nats.kill();
      await eventually(async () => expect(await boot()).not.toBe(before), within);
      await eventually(async () => expect(await asked('/')).toMatchObject({ status: 200 }), within);
      expect(await asked()).toMatchObject({ body: 'of the origin', cache: 'hit' });
      await plane.nats.start();
      await plane.api.start();
      await connected();
    },
  );

  test('uninstalling removes everything', { timeout: 120_000 }, async () => {
    await call(nodes.status, { body: { ids: [id], enabled: false } });
    const { jobIDs } = await call(nodeJobs.uninstall, { body: { ids: [id] } });
    await ended(jobIDs[0] ?? '');
    await eventually(async () => expect(await asked().catch(() => 'nobody')).toBe('nobody'), within);
    expect(await machine.exec('ls /etc/systemd/system/nginx.service 2>&1 || true')).toMatch('No such file');
    expect(await machine.exec('systemctl is-enabled nginx.service || true')).toBe('disabled\n');
    expect(
      await machine.exec('find / -xdev -iname "*edgeloom*" -not -path "/proc/*" -not -path "/var/log/journal/*"'),
    ).toBe('');
    expect(await machine.exec('systemctl list-units --all --no-legend "edgeloom*"; nft list ruleset')).toBe('');
    expect(await machine.exec('ps -e -o comm= | grep -x -e nginx -e node || true')).toBe('');
  });
});

/** Forwards a port of the machine's network to a local port. */
async function lead(host: string, port: number, to: string): Promise<() => void> {
  const target = new URL(to);
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    near.on('error', () => far.destroy()).on('close', () => far.destroy());
    far.on('error', () => near.destroy()).on('close', () => near.destroy());
    near.pipe(far).pipe(near);
  }).listen(port, host);
  await once(server, 'listening');
  return () => server.close();
}
