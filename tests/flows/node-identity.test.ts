// Joining, NATS permissions and revocation of nodes. The node here is hostile: it has valid credentials and sends
// anything.
import { purge } from '@edgeloom/contract/purge/purge.endpoints.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { JoinReply } from '@edgeloom/contract/edge/messages.ts';
import { jobs } from '@edgeloom/contract/jobs/jobs.endpoints.ts';
import { monitorNodes } from '@edgeloom/contract/monitors/monitors.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { inboxPrefix, subjects } from '@edgeloom/contract/subjects.ts';
import { connect, Events, jwtAuthenticator, nkeys } from 'nats';
import type { NatsConnection } from 'nats';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openTrust } from '../support/services/nats-trust.ts';
import { unique } from '../support/builders/build.ts';
import type { BuiltZone, Tenant } from '../support/builders/build.ts';
import { longTest } from '../support/builders/long-run.ts';
import { controlPlane } from '../support/services/control-plane.ts';
import type { ControlPlane } from '../support/services/control-plane.ts';
import { eventually } from '../support/assertions/eventually.ts';
import '../support/assertions/matchers.ts';
import { testDatabase } from '../support/services/shared-services.ts';
import { joinSimulated } from '../support/fakes/simulated-node.ts';
import type { SimulatedNode } from '../support/fakes/simulated-node.ts';

let plane: ControlPlane;
beforeAll(async () => {
  plane = await controlPlane({ databaseUrl: await testDatabase() });
});
afterAll(() => plane.stop());

const newKey = (): string => nkeys.createUser().getPublicKey();

async function join(token: string, publicKey = newKey(), path = 'node/join') {
  const answer = await fetch(`${plane.api.url}/api/v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, publicKey, version: 'test' }),
  });
  return { status: answer.status, reply: JoinReply.safeParse(await answer.json()).data };
}

async function open({ identity }: SimulatedNode): Promise<NatsConnection> {
  const { nodeID, natsServers, jwt, seed } = identity;
  const line = await connect({
    servers: natsServers,
    authenticator: jwtAuthenticator(jwt, seed),
    inboxPrefix: inboxPrefix(nodeID),
    reconnect: false,
  });
  onTestFinished(() => line.close());
  return line;
}

/** Permission errors that the server sent on this connection. */
function refusals(line: NatsConnection): string[] {
  const errors: string[] = [];
  const watch = async () => {
    for await (const { type, permissionContext } of line.status())
      if (type === Events.Error) errors.push(`${permissionContext?.operation} ${permissionContext?.subject}`);
  };
  void watch();
  return errors;
}

const nodeIn = async (zone: BuiltZone) => joinSimulated(await plane.node(zone));

describe('a join token', () => {
  test('takes no key of another node or monitor, which would have two identities', async () => {
    const zone = await plane.build.zone();
    const { token } = await plane.node(zone);
    const { token: other } = await plane.node(zone);
    const body = { name: unique('monitor'), ip: '192.0.2.10' };
    const monitor = await plane.as(zone.client).call(monitorNodes.create, { body });
    const [ofNode, ofMonitor] = [newKey(), newKey()];
    expect(await join(token, ofNode)).toMatchObject({ status: 200 });
    expect((await join(monitor.joinToken, ofNode, 'monitor/join')).status).not.toBe(200);
    expect(await join(monitor.joinToken, ofMonitor, 'monitor/join')).toMatchObject({ status: 200 });
    expect((await join(other, ofMonitor)).status).not.toBe(200);
    expect(await join(other)).toMatchObject({ status: 200 });
  });

  test('works for one key, which may repeat its join', async () => {
    const { token, nodeID } = await plane.node(await plane.build.zone());
    const key = newKey();
    const [first, again] = [await join(token, key), await join(token, key)];
    expect([first.status, again.status, first.reply?.nodeID]).toEqual([200, 200, nodeID]);
    expect(again.reply?.zoneKey).toBe(first.reply?.zoneKey);
    expect((await join(token)).status).toBe(401);
  });

  test('works for one key under concurrent joins', async () => {
    const { token } = await plane.node(await plane.build.zone());
    const answers = await Promise.all(Array.from({ length: 8 }, () => join(token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(7).fill(401)]);
  });

  test('expires after a day', async () => {
    const { token, nodeID } = await plane.node(await plane.build.zone());
    await plane.installation.db.edgeNode.update({ where: { id: nodeID }, data: { joinEndsAt: new Date() } });
    expect((await join(token)).status).toBe(401);
  });

  test('is rejected when unknown', async () => {
    expect((await join('x'.repeat(43))).status).toBe(401);
  });

  test('does not make one key two nodes', async () => {
    const zone = await plane.build.zone();
    const [one, other] = [await plane.node(zone), await plane.node(zone)];
    const key = newKey();
    expect((await join(one.token, key)).status).toBe(200);
    expect((await join(other.token, key)).status).toBe(401);
  });
});

test('a node cannot subscribe to another zone, another node, other inboxes or everything', async () => {
  const [zone, otherZone] = [await plane.build.zone(), await plane.build.zone()];
  const [node, other] = [await nodeIn(zone), await nodeIn(otherZone)];
  const line = await open(node);
  const errors = refusals(line);
  const foreign = [
    subjects.zoneDocs(otherZone.id),
    'edge.zone.*.doc',
    subjects.command(other.identity.nodeID, 'purge'),
    `${inboxPrefix(other.identity.nodeID)}.>`,
    '_INBOX.>',
    'rpc.*.sync',
    '$SYS.>',
    '>',
  ];
  for (const subject of foreign) line.subscribe(subject);
  await eventually(() => expect(errors).toEqual(foreign.map((subject) => `subscription ${subject}`)));
});

test('a node cannot publish as another node, as the control plane or to unknown subjects', async () => {
  const zone = await plane.build.zone();
  const [node, other] = [await nodeIn(zone), await nodeIn(zone)];
  const line = await open(node);
  const errors = refusals(line);
  const foreign = [
    subjects.ack(other.identity.nodeID),
    subjects.sync(other.identity.nodeID),
    subjects.zoneDocs(zone.id),
    subjects.command(other.identity.nodeID, 'purge'),
    '$SYS.REQ.CLAIMS.UPDATE',
  ];
  for (const subject of foreign) line.publish(subject, '{}');
  await eventually(() => expect(errors).toEqual(foreign.map((subject) => `publish ${subject}`)));
});

test('a node cannot make the control plane publish for it: responses go only to its own inbox', async () => {
  const zone = await plane.build.zone();
  const [node, victim] = [await nodeIn(zone), await nodeIn(zone)];
  const [line, ear] = [await open(node), await open(victim)];
  const received: string[] = [];
  for (const subject of [subjects.zoneDocs(zone.id), subjects.command(victim.identity.nodeID, 'resync')])
    ear.subscribe(subject, { callback: (_, msg) => void received.push(msg.string()) });
  await ear.flush();
  const request = JSON.stringify({ revision: 0, full: false });
  const { nodeID } = node.identity;
  for (const reply of [subjects.zoneDocs(zone.id), subjects.command(victim.identity.nodeID, 'resync')])
    line.publish(subjects.sync(nodeID), request, { reply });
  // Requests are handled in order, so the earlier ones are done when this one is answered.
  await line.request(subjects.sync(nodeID), request, { timeout: 20_000 });
  await ear.flush();
  expect(received).toEqual([]);
});

test('invalid reports of a node affect no other node', async () => {
  const zone = await plane.build.zone();
  const [hostile, honest] = [await nodeIn(zone), await nodeIn(zone)];
  const line = await open(hostile);
  const { nodeID } = hostile.identity;
  const beat = { ...honest.health(), revision: 1 };
  const bad = [
    'not JSON',
    '{}',
    JSON.stringify({ ...beat, revision: 2 ** 40 }),
    JSON.stringify({ ...beat, capabilities: Array<string>(500).fill('x'.repeat(1000)) }),
    JSON.stringify({
      ...beat,
      version: 'a\u0000b',
      error: '\ud800',
      rejected: [{ key: '\u0000', revision: 1, error: '\udfff' }],
    }),
  ];
  for (const text of bad) line.publish(subjects.heartbeat(nodeID), text);
  for (const text of bad) line.publish(subjects.ack(nodeID), text);
  await line.flush();
  honest.connect();
  onTestFinished(() => honest.disconnect());
  await eventually(async () => {
    const config = await plane.as(zone.client).call(nodes.config, { params: { nodeID: honest.identity.nodeID } });
    expect(config).toMatchObject({ status: 'enabled', digestAgrees: true, nginx: 'running' });
  });
  await eventually(async () => {
    const config = await plane.as(zone.client).call(nodes.config, { params: { nodeID } });
    expect(config).toMatchObject({ rejected: [{ key: '', error: '�' }] });
  });
});

describe('a node is disconnected by the server, receives nothing and cannot reconnect, once it is', () => {
  const ends: [string, (client: BuiltZone['client'], tenant: Tenant, nodeID: string) => Promise<unknown>][] = [
    [
      'removed',
      async (client, _, id) => {
        await plane.as(client).call(nodes.status, { body: { ids: [id], enabled: false } });
        return plane.as(client).call(nodes.remove, { body: { ids: [id] } });
      },
    ],
    ['given a new join token', (client, _, nodeID) => plane.as(client).call(nodes.rejoin, { params: { nodeID } })],
    [
      'moved to another zone',
      async (client, tenant, id) => {
        const { id: zoneID } = await plane.build.zone({ tenant });
        return plane.as(client).call(nodes.moveToZone, { body: { ids: [id], zoneID } });
      },
    ],
  ];
  test.each(ends)('%s', async (_, end) => {
    const site = await plane.build.site();
    const { zone } = site;
    const node = await nodeIn(zone);
    const { nodeID } = node.identity;
    node.onMove = async ({ token }) => void (await joinSimulated({ control: plane.api.url, token }));
    node.connect();
    onTestFinished(() => node.disconnect());
    await eventually(async () => {
      const { status } = await plane.as(zone.client).call(nodes.get, { params: { nodeID } });
      expect(status).toBe('enabled');
    });
    // A second, idle connection of the same node.
    const line = await open(node);
    let messageCount = 0;
    line.subscribe(subjects.zoneDocs(zone.id), { callback: () => void (messageCount += 1) });
    await line.flush();
    await end(zone.client, zone, nodeID);
    expect(String(await line.closed())).toContain('Authentication Revoked');
    const before = messageCount;
    const other = await nodeIn(zone);
    other.connect();
    onTestFinished(() => other.disconnect());
    const name = `${unique('www')}.example.com`;
    const body = { domains: [{ name, upstreams: [{ address: '127.0.0.1', port: 8080 }] }] };
    await plane.as(site.owner).call(domains.create, { params: site.params, body });
    await eventually(() => expect(other.doc(`host/${name}`)).not.toBeNull());
    expect([messageCount, node.docs.has(`host/${name}`)]).toEqual([before, false]);
    await expect(open(node)).rejects.toThrow('Authorization Violation');
  });
});

test('a removed node is disconnected at once and cannot return, even after NATS has lost its store', async () => {
  const zone = await plane.build.zone();
  const node = await nodeIn(zone);
  const line = await open(node);
  const cut = line.closed();
  const client = plane.as(zone.client);
  const ids = [node.identity.nodeID];
  await client.call(nodes.status, { body: { ids, enabled: false } });
  await client.call(nodes.remove, { body: { ids } });
  await cut;
  await expect(open(node)).rejects.toThrow('Authorization Violation');

  await plane.nats.kill();
  await plane.nats.wipe();
  await plane.nats.start();
  await eventually(async () => {
    const error: unknown = await open(node).then(
      async (line) => {
        await line.close();
        return null;
      },
      (error: unknown) => error,
    );
    expect(String(error)).toContain('Authorization Violation');
  });
});

test('a server that lost its store admits no node until the control plane has sent the revocations', async () => {
  const zone = await plane.build.zone();
  const [kept, removed] = [await nodeIn(zone), await nodeIn(zone)];
  const client = plane.as(zone.client);
  const ids = [removed.identity.nodeID];
  await client.call(nodes.status, { body: { ids, enabled: false } });
  await client.call(nodes.remove, { body: { ids } });
  await plane.api.kill();
  await plane.nats.kill();
  await plane.nats.wipe();
  await plane.nats.start();
  await expect(open(removed)).rejects.toThrow('Authorization Violation');
  await expect(open(kept)).rejects.toThrow('Authorization Violation');
  await plane.api.start();
  await open(kept);
  await expect(open(removed)).rejects.toThrow('Authorization Violation');
});

test('a new join token revokes the old key, and a new key serves the same node', async () => {
  const zone = await plane.build.zone();
  const node = await nodeIn(zone);
  const line = await open(node);
  const { nodeID } = node.identity;
  const { joinToken } = await plane.as(zone.client).call(nodes.rejoin, { params: { nodeID } });
  await line.closed();
  expect(await plane.as(zone.client).call(nodes.get, { params: { nodeID } })).toMatchObject({
    status: 'uninitialized',
  });
  const fresh = await joinSimulated({ control: plane.api.url, token: joinToken });
  expect(fresh.identity.nodeID).toBe(nodeID);
  fresh.connect();
  onTestFinished(() => fresh.disconnect());
  await eventually(async () => {
    expect(await plane.as(zone.client).call(nodes.get, { params: { nodeID } })).toMatchObject({ status: 'enabled' });
  });
});

// The tests above have the loss, and `faults.test.ts` a node that reconnects.
longTest('after a loss of the NATS store nodes reconnect and receive the next change', async () => {
  const site = await plane.build.site();
  const node = await nodeIn(site.zone);
  node.connect();
  onTestFinished(() => node.disconnect());
  const add = async () => {
    const name = `${unique('www')}.example.com`;
    const body = { domains: [{ name, upstreams: [{ address: '127.0.0.1', port: 8080 }] }] };
    await plane.as(site.owner).call(domains.create, { params: site.params, body });
    return `host/${name}`;
  };
  const before = await add();
  await eventually(() => expect(node.doc(before)).not.toBeNull());
  await plane.nats.kill();
  await plane.nats.wipe();
  const meanwhile = await add();
  await plane.nats.start();
  const after = await add();
  await eventually(() => expect([meanwhile, after].map((key) => node.doc(key) !== null)).toEqual([true, true]));
});

test('an API started before NATS publishes and purges once NATS is available', async () => {
  const site = await plane.build.site();
  const node = await nodeIn(site.zone);
  node.connect();
  onTestFinished(() => node.disconnect());
  await plane.api.kill();
  await plane.nats.kill();
  const starting = plane.api.start();
  await eventually(async () => expect((await fetch(`${plane.api.url}/api/v1/health`)).status).toBe(200));
  const name = `${unique('www')}.example.com`;
  const user = plane.as(site.owner);
  const body = { domains: [{ name, upstreams: [{ address: '127.0.0.1', port: 8080 }] }] };
  await user.call(domains.create, { params: site.params, body });
  const urls = [`http://${name}/`];
  const { jobID } = await user.call(purge.urls, { params: site.params, body: { type: 1, urls } });
  await plane.nats.start();
  await starting;
  await eventually(() => expect(node.doc(`host/${name}`)).not.toBeNull());
  await eventually(async () => {
    const job = await user.call(jobs.get, { params: { siteId: site.id, jobID } });
    expect(job).toMatchObject({ state: 'completed', done: 1 });
  });
});

test('a disconnected node is shown as reconnecting, and as enabled after its return', async () => {
  const zone = await plane.build.zone();
  const node = await nodeIn(zone);
  onTestFinished(() => node.disconnect());
  const status = async () =>
    (await plane.as(zone.client).call(nodes.get, { params: { nodeID: node.identity.nodeID } })).status;
  node.connect();
  await eventually(async () => expect(await status()).toBe('enabled'));
  await node.disconnect();
  await eventually(async () => expect(await status()).toBe('reconnecting'));
  node.connect();
  await eventually(async () => expect(await status()).toBe('enabled'));
});

test('a node that reconnects before NATS detects its disconnect is online, in either order of the events', async () => {
  const { nodeID, token } = await plane.node(await plane.build.zone());
  const user = newKey();
  await join(token, user);
  const trust = await openTrust(plane.secretsDir);
  const { jwt, seed } = trust.systemCredentials();
  const line = await connect({ servers: plane.nats.url, authenticator: jwtAuthenticator(jwt, seed) });
  onTestFinished(() => line.close());
  const [first, second, noticed] = [0, 10, 20].map((ms) => new Date(Date.now() + ms).toISOString());
  const emitEvent = (event: string, client: object) =>
    line.publish(`$SYS.ACCOUNT.${trust.account}.${event}`, JSON.stringify({ client: { user, ...client } }));
  const state = () => plane.installation.db.nodeState.findUniqueOrThrow({ where: { nodeId: nodeID } });
  // Repeats the event if the periodic review has already seen the connection gone.
  const emitConnect = (start = '') =>
    eventually(async () => {
      emitEvent('CONNECT', { start });
      expect((await state()).connectedAt).toEqual(new Date(start));
    });
  await emitConnect(first);
  emitEvent('DISCONNECT', { start: first, stop: noticed });
  await eventually(async () => expect(await state()).toMatchObject({ connectedAt: null }));
  // Regression: the node counted as offline until it reconnected, because the end was later than the start.
  await emitConnect(second);

  emitEvent('DISCONNECT', { start: second, stop: noticed });
  await eventually(async () => expect(await state()).toMatchObject({ connectedAt: null }));
  // A late start event of an ended connection is ignored.
  emitEvent('CONNECT', { start: second });
  emitEvent('CONNECT', { start: first });
  const { token: marked, nodeID: mark } = await plane.node(await plane.build.zone());
  const key = newKey();
  await join(marked, key);
  await eventually(async () => {
    emitEvent('CONNECT', { user: key, start: second });
    const { connectedAt } = await plane.installation.db.nodeState.findUniqueOrThrow({ where: { nodeId: mark } });
    expect(connectedAt).not.toBeNull();
  });
  expect(await state()).toMatchObject({ connectedAt: null });
});

test('an operator resyncs nodes; a node without response is named', async () => {
  const site = await plane.build.site();
  const [node, silent] = [await nodeIn(site.zone), await nodeIn(site.zone)];
  node.connect();
  onTestFinished(() => node.disconnect());
  const client = plane.as(site.client);
  await eventually(async () => {
    const { data } = await client.call(nodes.list, { query: { zoneID: site.zoneId, status: ['enabled'] } });
    expect(data.map(({ id }) => id)).toEqual([node.identity.nodeID]);
  });
  node.applied.length = 0;
  await client.call(nodes.reset, { body: { ids: [node.identity.nodeID] } });
  await eventually(() => expect(node.applied.map(({ key }) => key)).toContain(`node/${node.identity.nodeID}`));
  await expect(client.call(nodes.reset, { body: { ids: [silent.identity.nodeID] } })).toFail('NODE_UNREACHABLE', {
    errorData: [{ code: 202_001, targets: [expect.any(String)] }],
  });
});

test('an unknown, expired or failed order is answered with an error', async () => {
  const zone = await plane.build.zone();
  const client = plane.as(zone.client);
  const [old, able] = [await nodeIn(zone), await nodeIn(zone)];
  able.connect();
  onTestFinished(() => able.disconnect());
  const { natsServers, jwt, seed, nodeID } = old.identity;
  // An older agent with a fast clock: each order is handled by its own name.
  const line = await connect({ servers: natsServers, authenticator: jwtAuthenticator(jwt, seed) });
  onTestFinished(() => line.close());
  const late = { ok: false, error: 'the deadline has passed', tookMs: 0, objects: 0 };
  line.subscribe(subjects.command(nodeID, 'reboot'), {
    callback: (_, message) => void message.respond(JSON.stringify({ id: message.json<{ id: string }>().id, ...late })),
  });
  await line.flush();
  const body = { ids: [nodeID] };
  await eventually(() => expect(client.call(nodes.reboot, { body })).toFail('INVALID_NODE_TIME'));
  await expect(client.call(nodes.logRotate, { body })).toFail('NODE_VERSION_MISMATCH');
  await expect(client.call(nodes.system, { params: { nodeID } })).toFail('NODE_VERSION_MISMATCH');

  const own = { ids: [able.identity.nodeID] };
  await eventually(() => client.call(nodes.logRotate, { body: own }));
  able.failingCommands.set('reboot', 'the agent does not run as root');
  const { name } = await client.call(nodes.get, { params: { nodeID: able.identity.nodeID } });
  await expect(client.call(nodes.reboot, { body: own })).toFail('NODE_UNREACHABLE', {
    extra: { reasons: { [name]: 'the agent does not run as root' } },
  });
  await expect(client.call(nodes.reboot, { body: { ids: [...body.ids, ...own.ids] } })).toFail('MULTIPLE', {
    status: 502,
    errorData: expect.arrayContaining([expect.objectContaining({ code: 202_006 })]),
  });
  expect(able.executedCommands).toEqual(['rotateLogs']);
});
