// Port forwards of a real agent.
import { once } from 'node:events';
import { connect } from 'node:net';
import { layoutOf } from '@edgeloom/agent/layout.ts';
import { Admin } from '@edgeloom/agent/nginx/admin.ts';
import { findNginx, send } from '@edgeloom/agent/nginx/processes.ts';
import { portKey } from '@edgeloom/contract/edge/documents.ts';
import { expect, onTestFinished, test } from 'vitest';
import { longTest } from '../support/builders/long-run.ts';
import { upstream } from '../support/services/edge.ts';
import { portDoc, sendTcp, startEcho } from '../support/fakes/forwards.ts';
import { freePort } from '../support/services/ports.ts';
import { get, eventuallyStarted, waitForSync, startConnectedNode } from '../support/services/connected-node.ts';

/** Without the cache manager and loader, which come and go. */
const pidsIn = async (dir: string) =>
  (await findNginx(dir))
    .filter(({ title }) => !title.includes('cache'))
    .map(({ pid }) => pid)
    .sort((a, b) => a - b);

async function echoes() {
  const [one, two] = await Promise.all([startEcho('one'), startEcho('two')]);
  onTestFinished(() => Promise.all([one.stop(), two.stop()]).then(() => undefined));
  return { one, two };
}

// `ports.test.ts` and `edge/stream.test.ts` have the same without a look at the HTTP nginx.
longTest('a forward is added, changed and removed without affecting the HTTP nginx', async () => {
  const { peer, agent, ports } = await startConnectedNode();
  const { one, two } = await echoes();
  const layout = layoutOf(agent.dir);
  const admin = new Admin(layout.adminSocket);
  // A master and two workers.
  await eventuallyStarted(async () => expect(await pidsIn(layout.dir)).toHaveLength(3));
  const [{ generation }, workers] = await Promise.all([admin.status(), pidsIn(layout.dir)]);
  const doc = portDoc(await freePort(), { upstreams: [upstream(one.port)] });
  peer.push(doc);
  await eventuallyStarted(async () => expect(await sendTcp(doc.port, 'x')).toBe('one x'));

  const socket = connect(doc.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.write('open');
  await once(socket, 'data');
  peer.push({ ...doc, upstreams: [upstream(two.port)] });
  await eventuallyStarted(async () => expect(await sendTcp(doc.port, 'x')).toBe('two x'));
  socket.write('still');
  expect(String((await once(socket, 'data'))[0])).toBe('one still');
  socket.destroy();

  peer.push(portKey(doc.id));
  await eventuallyStarted(async () => expect(await pidsIn(layout.forwards.dir)).toEqual([]));
  expect((await admin.status()).generation).toBe(generation);
  expect(await pidsIn(layout.dir)).toEqual(workers);
  expect((await get(ports.http, 'www.example.com')).status).toBe(200);
});

test('a killed agent finds both of its nginx instances, and stopping with nginx stops both', async () => {
  const { peer, agent } = await startConnectedNode();
  const { one } = await echoes();
  const { forwards, dir } = layoutOf(agent.dir);
  const doc = portDoc(await freePort(), { upstreams: [upstream(one.port)] });
  peer.push(doc);
  await eventuallyStarted(async () => expect(await sendTcp(doc.port, 'x')).toBe('one x'));
  const before = await pidsIn(forwards.dir);

  await agent.end('SIGKILL');
  expect(await sendTcp(doc.port, 'x')).toBe('one x');
  const other = portDoc(await freePort(), { upstreams: [upstream(one.port)] });
  peer.push(other);
  agent.start('--with-nginx');
  await eventuallyStarted(async () => expect(await sendTcp(other.port, 'x')).toBe('one x'));
  const after = await findNginx(forwards.dir);
  expect(before).toContain(after.find(({ title }) => title.includes('master'))?.pid);

  await agent.end('SIGTERM');
  expect([await pidsIn(dir), await pidsIn(forwards.dir)]).toEqual([[], []]);
});

// `agent-faults.test.ts` has the same for HTTP.
longTest('after a reboot without a control plane forwards are served from disk', async () => {
  const { peer, agent } = await startConnectedNode();
  const { one } = await echoes();
  const { forwards } = layoutOf(agent.dir);
  const doc = portDoc(await freePort(), { upstreams: [upstream(one.port)] });
  peer.push(doc);
  await eventuallyStarted(async () => expect(await sendTcp(doc.port, 'x')).toBe('one x'));
  await agent.end('SIGKILL');
  for (const { pid } of [...(await findNginx(forwards.dir)), ...(await findNginx(agent.dir))]) send(pid, 'SIGKILL');
  await peer.stop();
  agent.start();
  await eventuallyStarted(async () => expect(await sendTcp(doc.port, 'x')).toBe('one x'));
});

// `edge/stream.test.ts` has the same without a heartbeat.
longTest('a forward that cannot be served is reported, and HTTP continues', async () => {
  const { peer, agent, ports } = await startConnectedNode();
  const { one } = await echoes();
  const doc = portDoc(one.port);
  peer.push(doc);
  await waitForSync({ peer, agent });
  const error = `layer 4: 127.0.0.1:${one.port} cannot be opened: EADDRINUSE`;
  await eventuallyStarted(() => expect(agent.log).toContainEqual(expect.objectContaining({ error })));
  expect((await get(ports.http, 'www.example.com')).status).toBe(200);
  await agent.end('SIGTERM');
  agent.start();
  await eventuallyStarted(() => expect(peer.heartbeats.map((beat) => beat.error)).toContain(error));
  await eventuallyStarted(() => expect(peer.heartbeats.at(-1)?.nginx).toBe('running'));
});
