// Rotation of a zone's key while it serves. Real agents with nginx and TLS and an API process are killed midway.
// Nodes that return late are simulated.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { connect as connectTls } from 'node:tls';
import { selfSigned } from '@edgeloom/agent/nginx/self-signed.ts';
import { openSealed, readZoneKeys } from '@edgeloom/agent/store/zone-keys.ts';
import { certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { newBox } from '@edgeloom/contract/edge/key-box.ts';
import { CertDoc } from '@edgeloom/contract/edge/documents.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { inboxPrefix, subjects } from '@edgeloom/contract/subjects.ts';
import { zoneKeys } from '@edgeloom/contract/zone-keys/zone-keys.endpoints.ts';
import { connect, jwtAuthenticator, nkeys } from 'nats';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import type { TestAgent } from '../support/services/agent.ts';
import { unique } from '../support/builders/build.ts';
import type { BuiltZone } from '../support/builders/build.ts';
import { controlPlane } from '../support/services/control-plane.ts';
import type { ControlPlane } from '../support/services/control-plane.ts';
import '../support/assertions/matchers.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { freePort } from '../support/services/ports.ts';
import { nodeAt } from '../support/builders/served-site.ts';
import { testDatabase } from '../support/services/shared-services.ts';
import { longTest } from '../support/builders/long-run.ts';
import { joinSimulated, type SimulatedNode } from '../support/fakes/simulated-node.ts';
import { eventuallyStarted } from '../support/services/connected-node.ts';

// Processes start slowly on a machine that runs other tests.
vi.setConfig({ testTimeout: 300_000 });

let plane: ControlPlane;
beforeAll(async () => {
  plane = await controlPlane({ databaseUrl: await testDatabase() });
});
afterAll(() => plane.stop());

const keyOf = (zone: BuiltZone) => plane.as(zone.client).call(zoneKeys.get, { params: { zoneId: zone.id } });
const rotate = (zone: BuiltZone, reason = '') =>
  plane.as(zone.client).call(zoneKeys.rotate, { params: { zoneId: zone.id }, body: { reason } });
/** Waits until no rotation runs and returns the last one. */
const changed = (zone: BuiltZone) =>
  eventually(
    async () => {
      const { current, last } = await keyOf(zone);
      expect(current).toBeNull();
      return last;
    },
    { within: 120_000 },
  );
const idsOf = async ({ dir }: TestAgent) => (await readZoneKeys(path.join(dir, 'keys'))).map(({ id }) => id);

async function certificateIn(zone: BuiltZone) {
  const site = await plane.build.site({ product: await plane.build.product({ zone }) });
  const { call } = plane.as(site.owner);
  const { params } = site;
  const name = `${unique('www')}.example.com`;
  const domain = await plane.build.domain({ site, name });
  const { cert: chainPem, key: keyPem } = selfSigned(name);
  const { id } = await call(certificates.create, { params, body: { source: 'pem', sslName: name, chainPem, keyPem } });
  await call(certificates.assign, { params: { ...params, certId: id }, body: { domainIDs: [domain.id] } });
  return { name, docKey: `cert/${id}`, privateKey: keyPem };
}

async function isConnected(nodeID: string): Promise<boolean> {
  const { rowCount } = await plane.installation.pool.query(
    'SELECT FROM node_states WHERE node_id = $1 AND connected_at IS NOT NULL',
    [nodeID],
  );
  return rowCount === 1;
}

/** The published document. */
async function published(docKey: string) {
  const [row] = (
    await plane.installation.pool.query<{ body: string }>('SELECT body FROM edge_documents WHERE key = $1', [docKey])
  ).rows;
  return CertDoc.parse(JSON.parse(row?.body ?? 'null'));
}

const shown = (name: string, port: number, host: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connectTls({ host, port, servername: name, rejectUnauthorized: false }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    });
    socket.setTimeout(20_000, () => socket.destroy(new Error('no handshake')));
    socket.on('error', reject);
  });

/** Two real nodes that serve one certificate. */
async function servingNodes() {
  const port = await freePort();
  const zone = await plane.build.zone({ ports: [], tlsPorts: [port] });
  const certificate = await certificateIn(zone);
  const { name } = certificate;
  const both = await Promise.all([nodeAt(plane, zone, '127.0.0.1'), nodeAt(plane, zone, '127.0.0.2')]);
  for (const { agent } of both) {
    onTestFinished(() => agent.stop());
    agent.start();
  }
  for (const { address } of both)
    await eventuallyStarted(async () => expect(await shown(name, port, address)).toBe(name));
  for (const { agent } of both) expect(await idsOf(agent)).toEqual(['first']);
  const [one, other] = both;
  return { ...certificate, zone, both, one, other, shownBy: (address: string) => shown(name, port, address) };
}

/** Sends requests to both nodes. `stop` returns the distinct responses. */
function visitorsOf({ both, shownBy }: Awaited<ReturnType<typeof servingNodes>>) {
  const seen: string[] = [];
  let isOver = false;
  const visitLoop = Promise.all(
    both.map(async ({ address }) => {
      while (!isOver) {
        seen.push(await shownBy(address).catch(String));
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }),
  );
  const stop = async () => {
    isOver = true;
    await visitLoop;
    return [...new Set(seen)];
  };
  onTestFinished(async () => void (await stop()));
  return { seen, stop };
}

test('key rotation survives kills of the API and an agent, and excludes removed nodes', async () => {
  const nodesOfZone = await servingNodes();
  const { zone, name, docKey, privateKey, both, one, other, shownBy } = nodesOfZone;
  const visitors = visitorsOf(nodesOfZone);

  // The API process is killed after its response, an agent during the rotation.
  const asked = await rotate(zone, 'as every year');
  expect(asked.current).toMatchObject({ cause: 'asked', reason: 'as every year' });
  expect((await rotate(zone)).current?.id).toBe(asked.current?.id);
  await plane.api.kill();
  await one.agent.end('SIGKILL');
  await plane.api.start();
  one.agent.start();
  const first = await changed(zone);
  expect(first).toMatchObject({ id: asked.current?.id, state: 'done', sealed: 1 });
  for (const { agent } of both) await eventuallyStarted(async () => expect(await idsOf(agent)).toEqual([first?.id]));
  expect((await published(docKey)).pairs.map(({ key }) => key.keyID)).toEqual([first?.id]);
  expect(await readFile(path.join(one.agent.dir, 'keys/zone.keys'), 'utf8')).not.toContain('first');
  await eventuallyStarted(() => expect(visitors.seen.length).toBeGreaterThan(50));
  expect(await visitors.stop()).toEqual([name]);

  // Removing a node rotates the key automatically.
  const keys = await readZoneKeys(path.join(other.agent.dir, 'keys'));
  const { pairs: before } = await published(docKey);
  expect(before.map(({ key }) => openSealed(keys, key, docKey))).toEqual([privateKey]);
  await plane.as(zone.client).call(nodes.status, { body: { ids: [other.nodeID], enabled: false } });
  await plane.as(zone.client).call(nodes.remove, { body: { ids: [other.nodeID] } });
  const last = await changed(zone);
  expect(last).toMatchObject({ state: 'done', cause: 'nodeLeft' });
  expect(last?.id).not.toBe(first?.id);
  const { pairs } = await published(docKey);
  for (const { id } of keys) expect(pairs.map(({ key }) => key.keyID)).not.toContain(id);
  for (const { key } of pairs) expect(() => openSealed(keys, key, docKey)).toThrow();
  await eventuallyStarted(async () => expect(await idsOf(one.agent)).toEqual([last?.id]));
  expect(await shownBy(one.address)).toBe(name);
});

/** Waits until the rotation only waits for offline nodes. */
const retiring = (zone: BuiltZone, missing: object[]) =>
  eventuallyStarted(async () => expect((await keyOf(zone)).current).toMatchObject({ state: 'retiring', missing }));

const twoDaysPass = (zone: BuiltZone) =>
  plane.installation.pool.query(
    `UPDATE zone_key_changes SET since = now() - interval '2 days' WHERE state = 'retiring' AND zone_id = $1`,
    [zone.id],
  );

// The two tests with simulated nodes below have the same without nginx.
longTest('an offline node serves with its keys and gets the new ones, also after two days', async () => {
  const nodesOfZone = await servingNodes();
  const { zone, name, both, other } = nodesOfZone;
  const visitors = visitorsOf(nodesOfZone);
  const missing = [{ id: other.nodeID, connected: false }];

  // An offline node serves with its keys and restarts without a control plane. nginx may still be loading the keys.
  expect(await other.agent.end('SIGTERM')).toBe(0);
  await eventuallyStarted(async () => expect(await isConnected(other.nodeID)).toBe(false));
  await rotate(zone);
  await retiring(zone, missing);
  expect(await idsOf(other.agent)).toEqual(['first']);
  other.agent.start();
  const second = await changed(zone);
  for (const { agent } of both) await eventuallyStarted(async () => expect(await idsOf(agent)).toEqual([second?.id]));

  // A node that is offline too long is abandoned.
  await other.agent.end('SIGKILL');
  await eventuallyStarted(async () => expect(await isConnected(other.nodeID)).toBe(false));
  await rotate(zone);
  await retiring(zone, missing);
  await twoDaysPass(zone);
  const third = await changed(zone);
  expect(await idsOf(other.agent)).toEqual([second?.id]);
  other.agent.start();
  for (const { agent } of both) await eventuallyStarted(async () => expect(await idsOf(agent)).toEqual([third?.id]));
  await eventuallyStarted(async () =>
    expect(other.agent.log.some(({ message }) => message === 'documents applied')).toBe(true),
  );
  expect(await visitors.stop()).toEqual([name]);
});

const simulatedIn = async (zone: BuiltZone) => {
  const node = await joinSimulated(await plane.node(zone));
  onTestFinished(() => node.disconnect());
  return node;
};

const keyIdsOf = ({ heldKeys }: SimulatedNode) => heldKeys.map(({ id }) => id);

/** A node with a document of a zone whose other node is offline. */
async function withOfflineNode() {
  const zone = await plane.build.zone();
  const { docKey, privateKey } = await certificateIn(zone);
  const [online, offline] = [await simulatedIn(zone), await simulatedIn(zone)];
  for (const node of [online, offline]) {
    node.connect();
    await eventuallyStarted(() => expect(node.doc(docKey)).toMatchObject({ kind: 'cert' }));
    await eventuallyStarted(async () => expect(await isConnected(node.identity.nodeID)).toBe(true));
  }
  const keys = keyIdsOf(offline);
  await offline.disconnect();
  await eventuallyStarted(async () => expect(await isConnected(offline.identity.nodeID)).toBe(false));
  await rotate(zone);
  await retiring(zone, [{ id: offline.identity.nodeID, connected: false }]);
  expect(keyIdsOf(offline)).toEqual(keys);
  /** Waits until both nodes have only this key and decrypt the document with it. */
  const isHeldByBoth = async (keyId: string | undefined) => {
    for (const node of [online, offline])
      await eventuallyStarted(() => {
        expect(keyIdsOf(node)).toEqual([keyId]);
        const held = node.heldKeys.map(({ id, key }) => ({ id, key: Buffer.from(key, 'base64') }));
        const { pairs } = CertDoc.parse(node.doc(docKey));
        expect(pairs.map(({ key }) => openSealed(held, key, docKey))).toEqual([privateKey]);
      });
  };
  return { zone, offline, keys, isHeldByBoth };
}

test('a rotation keeps the old key until an offline node returns', async () => {
  const { zone, offline, isHeldByBoth } = await withOfflineNode();
  offline.connect();
  const last = await changed(zone);
  expect(last).toMatchObject({ state: 'done', cause: 'asked' });
  await isHeldByBoth(last?.id);
});

test('a rotation abandons a node that is offline for two days, and its return brings the new key', async () => {
  const { zone, offline, keys, isHeldByBoth } = await withOfflineNode();
  await twoDaysPass(zone);
  const last = await changed(zone);
  expect(last).toMatchObject({ state: 'done', cause: 'asked' });
  expect(keyIdsOf(offline)).toEqual(keys);
  offline.connect();
  await isHeldByBoth(last?.id);
});

test('a node removed during the rotation holds a key that encrypts nothing', async () => {
  const zone = await plane.build.zone();
  const { docKey, privateKey } = await certificateIn(zone);
  const [slow, leaving] = [await simulatedIn(zone), await simulatedIn(zone)];
  const { take } = slow.zoneKeys;
  let mayTake = false;
  slow.zoneKeys.take = (told) => (mayTake ? take(told) : Promise.reject(new Error('not yet')));
  for (const node of [slow, leaving]) node.connect();
  await eventuallyStarted(() => expect(slow.doc(docKey)).toMatchObject({ kind: 'cert' }));
  const { current } = await rotate(zone);
  await eventuallyStarted(() => expect(leaving.heldKeys.map(({ id }) => id)).toContain(current?.id));
  await eventuallyStarted(async () =>
    expect((await keyOf(zone)).current).toMatchObject({
      state: 'delivering',
      missing: [{ id: slow.identity.nodeID, connected: true }],
    }),
  );
  const { call } = plane.as(zone.client);
  await call(nodes.status, { body: { ids: [leaving.identity.nodeID], enabled: false } });
  await call(nodes.remove, { body: { ids: [leaving.identity.nodeID] } });
  mayTake = true;
  const last = await changed(zone);
  expect(last).toMatchObject({ state: 'done', cause: 'nodeLeft' });
  const { pairs } = await published(docKey);
  expect(pairs.map(({ key }) => key.keyID)).toEqual([last?.id]);
  expect(leaving.heldKeys.map(({ id }) => id)).not.toContain(last?.id);
  await eventuallyStarted(() => expect(slow.heldKeys.map(({ id }) => id)).toEqual([last?.id]));
  const held = slow.heldKeys.map(({ id, key }) => ({ id, key: Buffer.from(key, 'base64') }));
  expect(pairs.map(({ key }) => openSealed(held, key, docKey))).toEqual([privateKey]);
  // The node had the key before the document that is encrypted with it.
  const at = slow.keyHistory.find(({ keys }) => keys.includes(String(last?.id)))?.revision ?? Number.POSITIVE_INFINITY;
  expect(at).toBeLessThan(slow.docs.get(docKey)?.revision ?? 0);
});

test('a stopping agent finishes its key update of nginx, and starts no other', async () => {
  const zone = await plane.build.zone();
  const node = await simulatedIn(zone);
  const { take } = node.zoneKeys;
  const mayTake = Promise.withResolvers<void>();
  let taking = 0;
  node.zoneKeys.take = async (told) => {
    taking += 1;
    await mayTake.promise;
    await take(told);
  };
  node.connect();
  await eventuallyStarted(async () => expect(await isConnected(node.identity.nodeID)).toBe(true));
  const { current } = await rotate(zone);
  await eventuallyStarted(() => expect(taking).toBe(1));
  let isOver = false;
  const stopped = node.disconnect().then(() => (isOver = true));
  await eventuallyStarted(async () => expect(await isConnected(node.identity.nodeID)).toBe(false));
  expect(isOver).toBe(false);
  mayTake.resolve();
  await stopped;
  expect(node.heldKeys.map(({ id }) => id)).toContain(current?.id);
  expect(taking).toBe(1);
});

test('a node without key ring support is named as delaying the rotation', async () => {
  const zone = await plane.build.zone();
  const old = await plane.node(zone);
  const answer = await fetch(`${old.control}/api/v1/node/join`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: old.token, publicKey: nkeys.createUser().getPublicKey(), version: '0.1' }),
  });
  expect(answer.status).toBe(200);
  await expect(rotate(zone)).toFail('NODE_VERSION_MISMATCH');
  expect((await keyOf(zone)).tooOld).toMatchObject([{ id: old.nodeID, connected: false }]);
  // A removed node no longer delays the rotation, but knows the key, so another rotation follows.
  await plane.as(zone.client).call(nodes.status, { body: { ids: [old.nodeID], enabled: false } });
  await plane.as(zone.client).call(nodes.remove, { body: { ids: [old.nodeID] } });
  expect(await changed(zone)).toMatchObject({ state: 'done', cause: 'nodeLeft', sealed: 0 });
});

test("an attacker with a node's connection but not its key gets no zone keys and decrypts nothing", async () => {
  const node = await simulatedIn(await plane.build.zone());
  const { nodeID, natsServers, jwt, seed } = node.identity;
  const line = await connect({
    servers: natsServers,
    authenticator: jwtAuthenticator(jwt, seed),
    inboxPrefix: inboxPrefix(nodeID),
    reconnect: false,
  });
  onTestFinished(() => line.close());
  const ask = (message: object, timeout = 30_000) =>
    line.request(subjects.keys(nodeID), JSON.stringify(message), { timeout });
  const { box } = newBox(nodeID);
  const stranger = nkeys.createUser();
  const signature = Buffer.from(stranger.sign(Buffer.from(`edgeloom zone keys asked\n${nodeID}\n${box}`))).toString(
    'base64',
  );
  await expect(ask({ box, signature }, 1500)).rejects.toThrow('TIMEOUT');
  const signed = Buffer.from(
    nkeys.fromSeed(seed).sign(Buffer.from(`edgeloom zone keys asked\n${nodeID}\n${box}`)),
  ).toString('base64');
  const reply = (await ask({ box, signature: signed })).string();
  expect(reply).not.toContain(node.zoneKey);
  const { open } = newBox(nodeID);
  expect(() => open(JSON.parse(reply))).toThrow();
});
