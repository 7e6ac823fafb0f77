// A change from its row to the nodes, with two API processes, real NATS and the agent's link.
import { createDecipheriv, randomUUIDv7 } from 'node:crypto';
import { cacheRules } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { CertDoc, certKey } from '@edgeloom/contract/edge/documents.ts';
import { DocPush } from '@edgeloom/contract/edge/messages.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { clientSites, sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { subjects } from '@edgeloom/contract/subjects.ts';
import { connect, jwtAuthenticator } from 'nats';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { changed, removeTombstones } from '../support/services/background-work.ts';
import { openTrust } from '../support/services/nats-trust.ts';
import type { BuiltSite } from '../support/builders/build.ts';
import { unique } from '../support/builders/build.ts';
import { isLongRun } from '../support/builders/long-run.ts';
import { controlPlane } from '../support/services/control-plane.ts';
import type { ControlPlane } from '../support/services/control-plane.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { testDatabase } from '../support/services/shared-services.ts';
import { joinSimulated } from '../support/fakes/simulated-node.ts';
import type { SimulatedNode } from '../support/fakes/simulated-node.ts';

let plane: ControlPlane;
beforeAll(async () => {
  plane = await controlPlane({ databaseUrl: await testDatabase(), apis: 2 });
});
afterAll(() => plane.stop());

async function connectedNode(site: BuiltSite): Promise<SimulatedNode> {
  const node = await joinSimulated(await plane.node(site.zone));
  node.connect();
  onTestFinished(() => node.disconnect());
  return node;
}

const owner = (site: BuiltSite) => plane.as(site.owner);

async function addDomain(site: BuiltSite, name = `${unique('www')}.example.com`, port = 8080) {
  const body = { domains: [{ name, upstreams: [{ address: '127.0.0.1', port }] }] };
  const { ids } = await owner(site).call(domains.create, { params: site.params, body });
  const [id = ''] = ids;
  return { name, key: `host/${name}`, params: { ...site.params, domainId: id } };
}

const zoneOf = (site: BuiltSite) => plane.installation.db.zone.findUniqueOrThrow({ where: { id: site.zoneId } });

/** Thousands of documents take long on a busy machine. */
const generousTimeout = { within: 60_000 };

/** Resolves when the node has everything that the zone has published. */
const settled = (site: BuiltSite, node: SimulatedNode) =>
  eventually(async () => {
    // Order matters: entries that left the outbox are in the revision that is read afterwards.
    const waiting = await plane.installation.db.outbox.count({ where: { zoneId: site.zoneId } });
    const { revision, publishedRevision } = await zoneOf(site);
    expect([publishedRevision, node.revision, waiting]).toEqual([revision, revision, 0]);
    return revision;
  }, generousTimeout);

test('a new domain reaches the node with its site, and the console shows the sync', async () => {
  const site = await plane.build.site();
  const node = await connectedNode(site);
  const { key, name } = await addDomain(site);
  await eventually(() => expect(node.doc(key)).toMatchObject({ kind: 'host', name, siteID: site.id }));
  expect(node.doc(`site/${site.id}`)).toMatchObject({ status: 'normal' });
  const revision = await settled(site, node);
  await eventually(async () => {
    const call = plane.as(site.client).call(nodes.get, { params: { nodeID: node.identity.nodeID } });
    expect(await call).toMatchObject({ status: 'enabled', currentSerial: revision, latestSerial: revision });
  });
});

test('a disabled domain is removed from the node, and returns when enabled', async () => {
  const site = await plane.build.site();
  const node = await connectedNode(site);
  const { key, params } = await addDomain(site);
  await eventually(() => expect(node.doc(key)).not.toBeNull());
  const set = (enabled: boolean) =>
    owner(site).call(domains.status, { params: site.params, body: { ids: [params.domainId], enabled } });
  await set(false);
  await eventually(() => expect(node.doc(key)).toBeNull());
  await set(true);
  await eventually(() => expect(node.doc(key)).not.toBeNull());
});

test('a paused site is published as paused', async () => {
  const site = await plane.build.site();
  const node = await connectedNode(site);
  await addDomain(site);
  await plane.as(site.client).call(clientSites.status, { body: { siteIDs: [site.id], status: 'pause' } });
  await eventually(() => expect(node.doc(`site/${site.id}`)).toMatchObject({ status: 'pause' }));
});

const CHANGES = isLongRun ? 200 : 24;

test(`two API processes publish ${CHANGES} concurrent changes once each and in order`, async () => {
  const site = await plane.build.site();
  const node = await connectedNode(site);
  const pushes = await hearPushes(site.zoneId);
  const names = Array.from({ length: CHANGES }, (_, i) => `n${i}-${unique('www')}.example.com`);
  const left = [...names];
  const caller = async (url: string) => {
    for (let name = left.pop(); name !== undefined; name = left.pop()) {
      const answer = await fetch(`${url}/api/v1/user/site/${site.id}/domains`, {
        method: 'POST',
        headers: { authorization: `Bearer ${site.owner.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ domains: [{ name, upstreams: [{ address: '127.0.0.1', port: 8080 }] }] }),
      });
      const text = await answer.text();
      // Writers of one site wait for each other, and a busy machine may exceed the transaction timeout. Nothing was
      // written then.
      if (answer.status === 503) {
        left.push(name);
        continue;
      }
      expect(answer.status, text).toBe(200);
    }
  };
  await Promise.all(plane.apis.flatMap(({ url }) => Array.from({ length: 10 }, () => caller(url))));
  const revision = await settled(site, node);
  expect(names.filter((name) => node.doc(`host/${name}`) === null)).toEqual([]);

  // Other subscribers may receive the message later.
  await eventually(() => expect(pushes.at(-1)?.revision).toBe(revision));
  let reached = pushes[0]?.previous ?? 0;
  for (const push of pushes) {
    expect(push.previous).toBe(reached);
    reached = push.revision;
  }
  expect(reached).toBe(revision);
  const revisions = pushes.flatMap(({ docs }) => docs.map((doc) => doc.revision));
  expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b));
  expect(node.applied.map((entry) => entry.revision)).toEqual([
    ...new Set(node.applied.map((entry) => entry.revision)),
  ]);
});

async function hearPushes(zoneId: string): Promise<DocPush[]> {
  const { jwt, seed } = (await openTrust(plane.secretsDir)).ownCredentials();
  const line = await connect({ servers: plane.nats.url, authenticator: jwtAuthenticator(jwt, seed) });
  onTestFinished(() => line.close());
  const pushes: DocPush[] = [];
  line.subscribe(subjects.zoneDocs(zoneId), { callback: (_, msg) => void pushes.push(DocPush.parse(msg.json())) });
  await line.flush();
  return pushes;
}

test('a returning node catches up, including deletions', async () => {
  const site = await plane.build.site();
  const node = await connectedNode(site);
  const [kept, dropped] = [await addDomain(site), await addDomain(site)];
  await settled(site, node);
  await node.disconnect();
  const ids = [dropped.params.domainId];
  await owner(site).call(domains.status, { params: site.params, body: { ids, enabled: false } });
  await owner(site).call(domains.remove, { params: site.params, body: { ids } });
  const added = await addDomain(site);
  node.connect();
  await settled(site, node);
  expect([kept, dropped, added].map(({ key }) => node.doc(key) !== null)).toEqual([true, false, true]);
});

test('a node that was offline longer than tombstones exist still loses deleted documents', async () => {
  const site = await plane.build.site();
  const node = await connectedNode(site);
  const [kept, dropped] = [await addDomain(site), await addDomain(site)];
  await settled(site, node);
  await node.disconnect();
  const ids = [dropped.params.domainId];
  await owner(site).call(domains.status, { params: site.params, body: { ids, enabled: false } });
  const { pool } = plane.installation;
  await eventually(async () => {
    const { rowCount } = await pool.query(
      `UPDATE edge_documents SET updated_at = now() - interval '30 days' WHERE zone_id = $1 AND body IS NULL`,
      [site.zoneId],
    );
    expect(rowCount).toBe(1);
  });
  await eventually(async () => {
    await removeTombstones(pool);
    expect((await zoneOf(site)).tombstoneFloor).toBeGreaterThan(0);
  });
  node.connect();
  await settled(site, node);
  expect([kept, dropped].map(({ key }) => node.doc(key) !== null)).toEqual([true, false]);
});

test('a thousand domains created by one call arrive completely', async () => {
  const site = await plane.build.site();
  const node = await connectedNode(site);
  const names = Array.from({ length: 1000 }, (_, i) => `n${i}-${unique('bulk')}.example.com`);
  const body = { names, upstreams: [{ address: '127.0.0.1', port: 8080 }] };
  await owner(site).call(domains.createSimple, { params: site.params, body });
  await settled(site, node);
  expect(names.filter((name) => node.doc(`host/${name}`) === null)).toEqual([]);
});

test('an empty node fetches all documents in pages', async () => {
  const site = await plane.build.site();
  const names = Array.from({ length: 1000 }, (_, i) => `n${i}-${unique('page')}.example.com`);
  const upstreams = [{ address: '127.0.0.1', port: 8080 }];
  await owner(site).call(domains.createSimple, { params: site.params, body: { names, upstreams } });
  const more = names.map((name) => `more-${name}`);
  await owner(site).call(domains.createSimple, { params: site.params, body: { names: more, upstreams } });
  const node = await connectedNode(site);
  await settled(site, node);
  expect([...names, ...more].filter((name) => node.doc(`host/${name}`) === null)).toEqual([]);
});

test('a publisher that died between storing and pushing leaves no gap: the next one pushes the missing revisions', async () => {
  const site = await plane.build.site();
  const node = await connectedNode(site);
  await addDomain(site);
  const revision = await settled(site, node);
  const pushes = await hearPushes(site.zoneId);
  // The state after a crash at this point.
  await plane.installation.db.zone.update({ where: { id: site.zoneId }, data: { publishedRevision: revision - 1 } });
  await eventually(() => expect(pushes).toMatchObject([{ previous: revision - 1, revision }]));
  await settled(site, node);
});

test('a document that cannot be compiled keeps its last version, blocks no other, and is shown with its site', async () => {
  const site = await plane.build.site();
  const node = await connectedNode(site);
  const [poisoned, sound] = [await addDomain(site), await addDomain(site)];
  await settled(site, node);
  const { db } = plane.installation;
  await db.domain.update({ where: { id: poisoned.params.domainId }, data: { portMap: 'not a list' } });
  await db.outbox.create({ data: { zoneId: site.zoneId, key: poisoned.key } });
  await owner(site).call(domains.balance, { params: sound.params, body: { ...balance, hashType: 'uriHash' } });
  await eventually(() => expect(node.doc(sound.key)).toMatchObject({ origin: { method: 'uriHash' } }));
  expect(node.doc(poisoned.key)).not.toBeNull();
  const shown = async () => {
    const info = await owner(site).call(sites.get, { params: site.params });
    const { data } = await plane.as(site.client).call(clientSites.list, { query: {} });
    return [info.publishError, ...data.map(({ publishError }) => publishError)];
  };
  const reason = 'notCompiled';
  await eventually(async () => expect(await shown()).toEqual([reason, reason]));
  const renamed = await plane.as(site.client).call(clientSites.update, { body: { id: site.id, tags: ['failing'] } });
  expect(renamed.publishError).toBe(reason);
  await db.domain.update({ where: { id: poisoned.params.domainId }, data: { portMap: [], maxFails: 9 } });
  await eventually(() => expect(node.doc(poisoned.key)).toMatchObject({ origin: { maxFails: 9 } }), { within: 20_000 });
  await eventually(async () => expect(await shown()).toEqual([null, null]));
});

const balance = {
  hashType: 'roundRobin',
  hostReplace: null,
  sni: null,
  maxFails: 3,
  failTimeoutSeconds: 10,
  connectTimeoutSeconds: 5,
  readTimeoutSeconds: 60,
} as const;

test('cache rules are published in the order of evaluation', async () => {
  const site = await plane.build.site();
  const node = await connectedNode(site);
  await addDomain(site);
  const rule = (value: string, priority: number) => ({
    type: 'prefix' as const,
    value: [value],
    cacheTime: 60,
    priority,
  });
  const body = { rules: [rule('/b', 20), rule('/a', 10), rule('/c', 30)] };
  await owner(site).call(cacheRules.create, { params: site.params, body });
  await eventually(() =>
    expect(node.doc(`site/${site.id}`)).toMatchObject({
      cacheRules: [{ value: ['/a'] }, { value: ['/b'] }, { value: ['/c'] }],
    }),
  );
});

test('a certificate reaches the nodes of its zone, and only they can decrypt its key', async () => {
  const site = await plane.build.site();
  const elsewhere = await plane.build.site();
  const [node, foreign] = [await connectedNode(site), await connectedNode(elsewhere)];
  const { key, name, params } = await addDomain(site);
  const { db, secrets } = plane.installation;
  const id = randomUUIDv7();
  const certificate = {
    id,
    siteId: site.id,
    name,
    names: [name],
    notAfter: new Date('2030-01-01T00:00:00Z'),
  };
  await db.certificate.create({ data: certificate });
  await db.certificatePair.create({
    data: {
      certificateId: id,
      keyType: 'ecdsa',
      chainPem: 'the chain',
      keySealed: secrets.seal('the key', `certificates/${id}/key`),
      fingerprint: '',
      issuer: '',
      notBefore: new Date('2026-01-01T00:00:00Z'),
      notAfter: certificate.notAfter,
    },
  });
  await db.domain.update({ where: { id: params.domainId }, data: { certificateId: id } });
  await changed(db, site.zoneId, certKey(id), key);
  await eventually(() => expect(node.doc(key)).toMatchObject({ certID: id }));
  await eventually(() => expect([...node.keys()]).toContain(certKey(id)));
  const { pairs } = CertDoc.parse(node.doc(certKey(id)));
  expect(pairs.map(({ chainPem }) => chainPem)).toEqual(['the chain']);
  expect(pairs.map((pair) => unseal(pair.key, certKey(id), node.zoneKey))).toEqual(['the key']);
  expect(() => pairs.map((pair) => unseal(pair.key, certKey(id), foreign.zoneKey))).toThrow();
  expect([...foreign.keys()]).not.toContain(certKey(id));
});

function unseal({ iv, data, tag }: CertDoc['pairs'][number]['key'], docKey: string, zoneKey: string): string {
  const decipher = createDecipheriv('aes-256-gcm', Buffer.from(zoneKey, 'base64'), Buffer.from(iv, 'base64'))
    .setAAD(Buffer.from(docKey))
    .setAuthTag(Buffer.from(tag, 'base64'));
  return Buffer.concat([decipher.update(Buffer.from(data, 'base64')), decipher.final()]).toString();
}

test('a document lost by a node is repaired after its next heartbeat', async () => {
  const site = await plane.build.site();
  const node = await connectedNode(site);
  const { key } = await addDomain(site);
  await settled(site, node);
  await node.disconnect();
  node.dropDocument(key);
  node.connect();
  await eventually(() => expect(node.doc(key)).not.toBeNull());
  await eventually(async () => {
    const call = plane.as(site.client).call(nodes.config, { params: { nodeID: node.identity.nodeID } });
    expect(await call).toMatchObject({ digestAgrees: true, rejected: [] });
  });
});

test('a rejected document is shown with its reason until a valid one follows', async () => {
  const site = await plane.build.site();
  const node = await connectedNode(site);
  const { key, params } = await addDomain(site);
  await settled(site, node);
  node.rejectReasons.set(key, 'not to my taste');
  await owner(site).call(domains.balance, { params, body: { ...balance, maxFails: 5 } });
  const config = () => plane.as(site.client).call(nodes.config, { params: { nodeID: node.identity.nodeID } });
  await eventually(async () =>
    expect(await config()).toMatchObject({ status: 'rejected', rejected: [{ key, error: 'not to my taste' }] }),
  );
  node.rejectReasons.clear();
  await owner(site).call(domains.balance, { params, body: { ...balance, maxFails: 6 } });
  await eventually(async () => expect(await config()).toMatchObject({ status: 'enabled', rejected: [] }));
});
