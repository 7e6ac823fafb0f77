// Automatic certificates from the API call to the TLS handshake, with real nodes and a test authority.
import { certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { jobs } from '@edgeloom/contract/jobs/jobs.endpoints.ts';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { changed, orderDue } from '../support/services/background-work.ts';
import { processDueOrders } from '../support/builders/process-due-orders.ts';
import { testAgent } from '../support/services/agent.ts';
import type { TestAgent } from '../support/services/agent.ts';
import { unique, type BuiltSite } from '../support/builders/build.ts';
import { casesOfRun, isLongRun, longTest } from '../support/builders/long-run.ts';
import { joinSimulated } from '../support/fakes/simulated-node.ts';
import { collectedStops } from '../support/services/collected-stops.ts';
import { controlPlane } from '../support/services/control-plane.ts';
import type { ControlPlane } from '../support/services/control-plane.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { startOrigin } from '../support/fakes/origin.ts';
import type { Origin } from '../support/fakes/origin.ts';
import { startPebble, type Pebble } from '../support/services/pebble.ts';
import { freePorts } from '../support/services/ports.ts';
import { testDatabase } from '../support/services/shared-services.ts';
import { visit } from '../support/assertions/visit.ts';

let plane: ControlPlane;
let origin: Origin;
let agents: TestAgent[];
let pebble: Pebble;
let downtown: Pebble;
let site: BuiltSite;
let http = 0;
let https = 0;

const { onEnd, stopAll } = collectedStops();
beforeAll(async () => {
  [http = 0, https = 0] = await freePorts(2);
  const eab = { kid: 'kid-1', key: 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W' };
  // One authority whose account binding we do not have, and one that rejects every third nonce and may be slow.
  downtown = await startPebble({ httpPort: http, eab }, 'Downtown');
  onEnd(() => downtown.stop());
  pebble = await startPebble({ httpPort: http, eab, rejectedNoncesPercent: 30, slow: isLongRun });
  onEnd(() => pebble.stop());
  const { name, directory, rootFile } = downtown.authority;
  const settings = { ACME_AUTHORITIES: JSON.stringify([{ name, directory, rootFile }, pebble.authority]) };
  plane = await controlPlane({ databaseUrl: await testDatabase(), apis: 2, settings });
  onEnd(() => plane.stop());
  origin = await startOrigin();
  onEnd(() => origin.stop());
  const zone = await plane.build.zone({ ports: [http], tlsPorts: [https] });
  site = await plane.build.site({ product: await plane.build.product({ zone }) });
  agents = await Promise.all(nodes.map(async (listen) => testAgent({ ...nodeOf(await plane.node(zone)), listen })));
  for (const agent of agents) {
    onEnd(() => agent.stop());
    agent.start();
  }
  await changed(plane.installation.db, zone.id, 'zone', `site/${site.id}`);
}, 180_000);
afterAll(stopAll);

/** Two nodes of one zone. */
const nodes = ['127.0.0.1', '127.0.0.2'];
const nodeOf = ({ control, token }: { control: string; token: string }) => ({ control, token });
const user = () => plane.as(site.owner);

async function domain(name = `${unique('www')}.example.com`) {
  const row = await plane.build.domain({ site, name, upstreams: [{ address: '127.0.0.1', port: origin.port }] });
  await changed(plane.installation.db, site.zoneId, `host/${name}`);
  await eventually(
    async () => {
      for (const node of nodes) expect((await visit(http, name, '/', node)).status).not.toBe(903);
    },
    { within: 60_000 },
  );
  return row;
}

/** Issuer and key type of the served certificate. */
async function shown(servername: string, node = '127.0.0.1'): Promise<string> {
  const socket = connect({ host: node, port: https, servername, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { subjectaltname = '', issuer } = socket.getPeerCertificate();
  socket.destroy();
  return `${subjectaltname} by ${String(issuer.CN)}`;
}

test(
  'a customer orders a certificate; the nodes answer the challenge; visitors get the certificate',
  { timeout: 240_000 },
  async () => {
    // The next authority gets the order at once.
    await downtown.stopAuthority();
    onTestFinished(() => downtown.start());
    const { id, name } = await domain();
    const { jobID } = await user().call(certificates.autoSSL, { params: site.params, body: { ids: [id] } });
    await eventually(
      async () =>
        expect(await user().call(jobs.get, { params: { ...site.params, jobID } })).toMatchObject({
          state: 'completed',
          done: 1,
          total: 1,
        }),
      { within: 150_000 },
    );
    for (const node of nodes)
      await eventually(async () =>
        expect(await shown(name, node)).toMatch(new RegExp(`^DNS:${name} by Pebble Intermediate`)),
      );
    const { data } = await user().call(certificates.list, { params: site.params, query: { sslName: name } });
    expect(data).toMatchObject([
      { type: 'automatic', status: 'success', names: [name], keyTypes: ['ecdsa'], inUse: 1, error: null },
    ]);
    const { timeline } = await user().call(certificates.get, { params: { ...site.params, certId: data[0]?.id ?? '' } });
    const steps = timeline.map(({ step }) => step).toReversed();
    expect(steps).toEqual(['ordered', 'passed', 'placed', 'challenge', 'notified', 'validated', 'signed']);
    expect(timeline.find(({ step }) => step === 'passed')).toMatchObject({
      ca: 'Downtown',
      detail: expect.stringContaining('ECONNREFUSED'),
    });
    // The challenge response is removed afterwards.
    await eventually(async () => expect(await plane.installation.db.acmeChallenge.count()).toBe(0));
    await eventually(async () =>
      expect(
        await plane.installation.db.edgeDocument.count({
          where: { key: { startsWith: 'acme/' }, body: { not: null } },
        }),
      ).toBe(0),
    );
  },
);

const steps = async (certId: string) => (await look(certId)).timeline.map(({ step }) => step).toReversed();
const look = (certId: string, of = site) =>
  plane.as(of.owner).call(certificates.get, { params: { ...of.params, certId } });
const order = (names: string[], of = site) =>
  plane.as(of.owner).call(certificates.create, {
    params: of.params,
    body: { source: 'automatic', sslName: unique('cert'), names, keyTypes: ['ecdsa'] },
  });
const issued = (certId: string) =>
  eventually(async () => expect(await look(certId)).toMatchObject({ status: 'success' }), { within: 200_000 });

test('the authority validates only when every connected node has the challenge', { timeout: 240_000 }, async () => {
  const node = await joinSimulated(await plane.node(site.zone));
  const apply = node.apply.bind(node);
  const gate = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  node.apply = async (entries, reached) => {
    if (entries.some(({ key, body }) => key.startsWith('acme/') && body !== null)) {
      held.resolve();
      await gate.promise;
    }
    return apply(entries, reached);
  };
  node.connect();
  const { name } = await domain();
  // The authority connects to the second node.
  await pebble.resolveName(name, '127.0.0.2');
  const { id } = await order([name]);
  await held.promise;
  // The real nodes already have the document.
  const challenge = await plane.installation.db.acmeChallenge.findFirstOrThrow({ where: { name } });
  const path = `/.well-known/acme-challenge/${challenge.token}`;
  for (const at of nodes)
    await eventually(async () =>
      expect(await visit(http, name, path, at)).toMatchObject({ status: 200, body: challenge.keyAuthorization }),
    );
  expect(await steps(id)).not.toContain('notified');
  gate.resolve();
  await issued(id);
  await node.disconnect();
});

/** The authority's requests for this name wait until they are released, and then get the response of the nodes. */
async function holdValidation(name: string) {
  const arrived = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    arrived.resolve();
    void released.promise
      .then(() => visit(http, name, request.url))
      .then(({ status, body }) => response.writeHead(status).end(body));
  });
  server.listen(http, '127.0.0.3');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  await pebble.resolveName(name, '127.0.0.3');
  return { arrived: arrived.promise, release: () => released.resolve() };
}

async function killProcesses(certId: string) {
  await Promise.all(plane.apis.map((api) => api.kill()));
  // As if the minute of their lease had passed.
  await plane.installation.db.certificateOrder.updateMany({
    where: { certificateId: certId, claimedUntil: { not: null } },
    data: { claimedUntil: new Date() },
  });
}

/** Starts the processes and returns the orders of the certificate when it is issued. */
async function continued(certId: string) {
  await Promise.all(plane.apis.map((api) => api.start()));
  await issued(certId);
  const orders = await plane.installation.db.certificateOrder.findMany({ where: { certificateId: certId } });
  const placed = (await steps(certId)).filter((step) => step === 'placed').length;
  return { orders: orders.map(({ state }) => state), placed };
}

test('an order of a killed API process is continued by another process', { timeout: 400_000 }, async () => {
  const { name } = await domain();
  const validation = await holdValidation(name);
  const { id } = await order([name]);
  await validation.arrived;
  await killProcesses(id);
  validation.release();
  expect(await continued(id)).toEqual({ orders: ['done'], placed: 1 });
});

// The killed processes cannot receive which nodes have the challenge, so their successor waits for heartbeats.
longTest('an order of an API process that is killed after placing it is continued', { timeout: 400_000 }, async () => {
  const { name } = await domain();
  const { id } = await order([name]);
  await eventually(async () => expect(await steps(id)).toContain('placed'), { within: 60_000 });
  await killProcesses(id);
  expect(await continued(id)).toEqual({ orders: ['done'], placed: 1 });
});

test(
  "a name that does not point here fails with the authority's message, and is retried after an hour",
  { timeout: 240_000 },
  async () => {
    const elsewhere = await plane.build.site();
    const { name } = await plane.build.domain({ site: elsewhere });
    const { id } = await order([name], elsewhere);
    await eventually(async () => expect((await look(id, elsewhere)).status).toBe('fail'), { within: 200_000 });
    const info = await look(id, elsewhere);
    expect(info.error).toContain(name);
    expect(info.error).toContain('903');
    expect(info.timeline[0]).toMatchObject({ step: 'failed', ca: 'Pebble', detail: info.error });
    const waits = Date.parse(String(info.nextAt)) - Date.now();
    expect(waits).toBeGreaterThan(3_500_000);
    expect(waits).toBeLessThan(4_000_000);
    expect(await plane.installation.db.domain.findFirst({ where: { name } })).toMatchObject({ certStatus: 'fail' });
  },
);

test(
  'a certificate is renewed in the last third of its life; a failed renewal changes nothing that is served',
  { timeout: 400_000 },
  async () => {
    const { db, pool } = plane.installation;
    const { name } = await domain();
    const { id } = await order([name]);
    await issued(id);
    const served = () => db.certificatePair.findFirstOrThrow({ where: { certificateId: id } });
    const [{ notBefore, notAfter, fingerprint }, { nextAt }] = [
      await served(),
      await db.certificate.findUniqueOrThrow({ where: { id } }),
    ];
    const life = notAfter.getTime() - notBefore.getTime();
    const left = notAfter.getTime() - Number(nextAt);
    expect(left).toBeGreaterThanOrEqual(life / 3);
    expect(left).toBeLessThanOrEqual(life / 3 + life / 30);

    // The renewer's clock advances ten seconds per pass.
    let clock = Number(nextAt) - 1000;
    const now = () => new Date((clock += 10_000));
    const renew = async () => {
      await orderDue(pool, now());
      await eventually(
        async () => {
          await processDueOrders(plane.installation, now, { warn: (...said: unknown[]) => console.warn(...said) });
          expect(await db.certificateOrder.count({ where: { certificateId: id, state: 'open' } })).toBe(0);
        },
        { within: 200_000 },
      );
    };
    await renew();
    const renewed = await served();
    expect(renewed.fingerprint).not.toBe(fingerprint);

    await pebble.stopAuthority();
    for (const hours of casesOfRun([1, 6, 24, 24], 4)) {
      clock = Number((await db.certificate.findUniqueOrThrow({ where: { id } })).nextAt);
      await renew();
      const row = await db.certificate.findUniqueOrThrow({ where: { id } });
      expect(row.status).toBe('fail');
      // Other due orders also advance the clock, so compare with the order's own time.
      const { endedAt } = await db.certificateOrder.findFirstOrThrow({
        where: { certificateId: id },
        orderBy: { createdAt: 'desc' },
      });
      const waits = (Number(row.nextAt) - Number(endedAt)) / 3_600_000;
      expect(waits).toBeGreaterThanOrEqual(hours);
      expect(waits).toBeLessThan(hours * 1.1 + 0.1);
      expect((await served()).fingerprint).toBe(renewed.fingerprint);
    }
    expect(await shown(name)).toContain(`DNS:${name}`);
    await pebble.start();
    clock = Number((await db.certificate.findUniqueOrThrow({ where: { id } })).nextAt);
    await renew();
    expect(await look(id)).toMatchObject({ status: 'success', error: null });
    expect((await served()).fingerprint).not.toBe(renewed.fingerprint);
  },
);
