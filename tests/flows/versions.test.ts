// Mixed versions of control plane and nodes.
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { Ack, HeartbeatReply, Refused, SyncReply, SyncRequest } from '@edgeloom/contract/edge/messages.ts';
import { domainModules, tokenAuths } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { ports } from '@edgeloom/contract/ports/ports.endpoints.ts';
import { inboxPrefix, subjects } from '@edgeloom/contract/subjects.ts';
import { connect, jwtAuthenticator } from 'nats';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { testAgent } from '../support/services/agent.ts';
import { unique } from '../support/builders/build.ts';
import { controlPlane } from '../support/services/control-plane.ts';
import type { ControlPlane } from '../support/services/control-plane.ts';
import { sendTcp, startEcho } from '../support/fakes/forwards.ts';
import { buildOlderAgent } from '../support/fakes/older-agent.ts';
import { startOrigin } from '../support/fakes/origin.ts';
import { openTrust } from '../support/services/nats-trust.ts';
import { freePorts } from '../support/services/ports.ts';
import { testDatabase } from '../support/services/shared-services.ts';
import { joinSimulated } from '../support/fakes/simulated-node.ts';
import { eventuallyStarted, waitForSync, startConnectedNode } from '../support/services/connected-node.ts';
import { testDir } from '../support/services/test-dir.ts';
import { visit } from '../support/assertions/visit.ts';

vi.setConfig({ testTimeout: 180_000 });

let plane: ControlPlane;
beforeAll(async () => {
  plane = await controlPlane({ databaseUrl: await testDatabase() });
});
afterAll(() => plane.stop());

test('an older agent serves what it knows, blocks what it cannot protect, and keeps the rest for its successor', async () => {
  const [http = 0, forwarded = 0] = await freePorts(2);
  const zone = await plane.build.zone({ ports: [http], tlsPorts: [] });
  const site = await plane.build.site({ product: await plane.build.product({ zone }) });
  const [origin, echo] = [await startOrigin(), await startEcho('echo')];
  onTestFinished(() => Promise.all([origin.stop(), echo.stop()]).then(() => undefined));
  const { call } = plane.as(site.owner);
  const { params } = site;
  const [open, guarded] = [`${unique('www')}.example.com`, `${unique('paid')}.example.com`];
  const upstreams = [{ address: '127.0.0.1', port: origin.port }];
  await call(domains.create, { params, body: { domains: [{ name: open, upstreams }] } });
  const { ids } = await call(domains.create, { params, body: { domains: [{ name: guarded, upstreams }] } });
  await call(ports.createLines, { params, body: { lines: [`${forwarded} 127.0.0.1:${echo.port}`] } });

  const [dir, invitation] = [await testDir(), await plane.node(zone)];
  const countFullSyncs = await watchFullSyncs(invitation.nodeID);
  const older = await testAgent({ ...invitation, dir, program: await buildOlderAgent(await testDir()) });
  const present = await testAgent({ ...(await plane.node(zone)), listen: '127.0.0.2' });
  onTestFinished(() => Promise.all([older.stop(), present.stop()]).then(() => undefined));
  older.start();
  present.start();
  const seen = async (name: string) => [
    (await visit(http, name)).status,
    (await visit(http, name, '/', '127.0.0.2')).status,
  ];
  await eventuallyStarted(async () =>
    expect([await seen(open), await seen(guarded)]).toEqual([
      [200, 200],
      [200, 200],
    ]),
  );

  const entry = {
    parts: [{ name: 'auth', format: '{time}-{sign}' }],
    text: '{path}{time}',
    algorithm: 'hmacSha256' as const,
    keys: [{ key: 'a-key-of-the-flow' }],
  };
  const { data } = await call(tokenAuths.create, { params, body: { modules: [{ name: 't', auths: [entry] }] } });
  const body = { moduleID: data[0]?.id ?? null, domainIDs: ids };
  await call(domainModules.assign, { params: { ...params, kind: 'tokenAuth' }, body });
  await eventuallyStarted(async () =>
    expect([await seen(open), await seen(guarded)]).toEqual([
      [200, 200],
      [503, 403],
    ]),
  );

  // The operator sees the reason, and the node does not sync repeatedly.
  const config = () => plane.as(zone.client).call(nodes.config, { params: { nodeID: invitation.nodeID } });
  const error = 'this agent is too old for tokenAuth: closed until it is upgraded';
  const expectedConfig = { digestAgrees: true, rejected: [{ key: `host/${guarded}`, error }] };
  await eventuallyStarted(async () => expect(await config()).toMatchObject(expectedConfig));
  expect(countFullSyncs()).toBe(0);

  // A restart keeps this state.
  await older.end('SIGTERM');
  older.start();
  await eventuallyStarted(async () => expect(await config()).toMatchObject(expectedConfig));
  expect(await seen(guarded)).toEqual([503, 403]);

  // After an upgrade in place, the stored documents are used and nothing is sent again.
  await older.end('SIGTERM');
  const upgraded = await testAgent({ ...invitation, dir });
  onTestFinished(() => upgraded.end('SIGKILL').then(() => undefined));
  upgraded.start();
  await eventuallyStarted(async () =>
    expect([await seen(open), await seen(guarded)]).toEqual([
      [200, 200],
      [403, 403],
    ]),
  );
  await eventuallyStarted(async () => expect(await sendTcp(forwarded, 'x')).toBe('echo x'));
  await eventuallyStarted(async () => expect(await config()).toMatchObject({ digestAgrees: true, rejected: [] }));
  expect(upgraded.log.map(({ message }) => message)).not.toContain('documents applied');
});

/** Counts how often the node requests all documents although it already has some. */
async function watchFullSyncs(nodeID: string): Promise<() => number> {
  const { jwt, seed } = (await openTrust(plane.secretsDir)).ownCredentials();
  const line = await connect({ servers: plane.nats.url, authenticator: jwtAuthenticator(jwt, seed) });
  onTestFinished(() => line.close());
  let revision = 0;
  let fullSyncs = 0;
  line.subscribe(subjects.ack(nodeID), { callback: (_, msg) => void ({ revision } = Ack.parse(msg.json())) });
  line.subscribe(subjects.sync(nodeID), {
    callback: (_, msg) => {
      if (revision > 0 && SyncRequest.parse(msg.json()).revision === 0) fullSyncs += 1;
    },
  });
  await line.flush();
  return () => fullSyncs;
}

test('a document of an unknown kind is stored, counted and ignored, through a restart and a full sync', async () => {
  const node = await startConnectedNode();
  const { peer, agent } = node;
  peer.send(
    peer.storeBodies([
      ['tomorrow', '{"kind":"tomorrow"}'],
      ['later/a.b', '{}'],
    ]),
  );
  await waitForSync(node);
  const fine = async () => {
    await eventuallyStarted(() =>
      expect(peer.heartbeats.at(-1)).toMatchObject({ digest: peer.digest, rejected: [], error: null }),
    );
    expect(peer.acks.at(-1)).toMatchObject({ state: 'applied', rejected: [] });
  };
  await fine();
  expect(await peer.command('resync')).toMatchObject({ ok: true });
  await fine();
  await agent.end('SIGTERM');
  const heartbeatCount = peer.heartbeats.length;
  agent.start();
  await eventuallyStarted(() => expect(peer.heartbeats.length).toBeGreaterThan(heartbeatCount));
  await fine();
  peer.send(peer.storeBodies([['tomorrow', null]]));
  await waitForSync(node);
  await fine();
});

test('unknown messages of a newer agent are answered as unknown, and additional fields are ignored', async () => {
  const zone = await plane.build.zone();
  const node = await joinSimulated(await plane.node(zone));
  const { nodeID, natsServers, jwt, seed } = node.identity;
  const line = await connect({
    servers: natsServers,
    authenticator: jwtAuthenticator(jwt, seed),
    inboxPrefix: inboxPrefix(nodeID),
  });
  onTestFinished(() => line.close());
  const ask = async (subject: string, body: object) =>
    (await line.request(subject, JSON.stringify(body), { timeout: 20_000 })).json();
  for (const subject of [`up.${nodeID}.ofTomorrow`, `rpc.${nodeID}.ofTomorrow`])
    expect(Refused.parse(await ask(subject, {}))).toMatchObject({ unknown: true });
  expect(Refused.parse(await ask(subjects.sync(nodeID), { since: 'yesterday' })).unknown).toBeUndefined();
  expect(SyncReply.parse(await ask(subjects.sync(nodeID), { revision: 0, full: false, compressed: true })).full).toBe(
    true,
  );

  const beat = { ...node.health(), revision: 1, nginx: 'resting', clock: 'noon', load: { cpu: 'some' }, mood: 'good' };
  HeartbeatReply.parse(await ask(subjects.heartbeat(nodeID), beat));
  await eventuallyStarted(async () => {
    const config = await plane.as(zone.client).call(nodes.config, { params: { nodeID } });
    expect(config).toMatchObject({ status: 'enabled', nginx: null });
  });
});
