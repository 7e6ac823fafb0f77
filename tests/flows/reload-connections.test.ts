// Keep-alive connections survive nginx reloads without failed requests.
import { Agent, request } from 'node:http';
import { readlink } from 'node:fs/promises';
import path from 'node:path';
import { layoutOf } from '@edgeloom/agent/layout.ts';
import { expect, test, vi } from 'vitest';
import { isLongRun } from '../support/builders/long-run.ts';
import { waitForSync, startConnectedNode } from '../support/services/connected-node.ts';

vi.setConfig({ testTimeout: 120_000 });

const VISITORS = 16;
const RELOADS = isLongRun ? 5 : 2;

/** Sends requests on one connection until `isOver`. Returns the number of requests and of connections. */
async function visit(port: number, host: string, url: string, isOver: () => boolean) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let [asked, connections] = [0, 0];
  const failed: string[] = [];
  while (!isOver()) {
    asked += 1;
    await new Promise<void>((resolve) => {
      const call = request({ port, path: url, headers: { host }, agent }, (response) => {
        if (response.statusCode !== 200) failed.push(`status ${response.statusCode}`);
        response.on('error', (error) => failed.push(String(error)));
        response.on('close', resolve);
        response.resume();
      });
      call.on('error', (error) => {
        failed.push(String(error));
        resolve();
      });
      call.on('finish', () => {
        if (!call.reusedSocket) connections += 1;
      });
      call.end();
    });
    // Yields to the process under test.
    await new Promise((resolve) => setImmediate(resolve));
  }
  agent.destroy();
  return { asked, connections, failed };
}

test('keep-alive connections lose no request when nginx reloads', async () => {
  const node = await startConnectedNode();
  const { peer, ports, zone, www, agent, origin } = node;
  origin.on('/cached/x', { body: 'x' });
  const tree = () => readlink(path.join(layoutOf(agent.dir).conf, 'current'));
  let isOver = false;
  const visits = Array.from({ length: VISITORS }, (_, i) =>
    visit(ports.http, www.name, i % 2 === 0 ? '/' : '/cached/x', () => isOver),
  );
  const before = await tree();
  for (let i = 1; i <= RELOADS; i += 1) {
    peer.push({ ...zone, maxBodyBytes: zone.maxBodyBytes + i });
    await waitForSync(node);
  }
  isOver = true;
  const results = await Promise.all(visits);
  expect(await tree()).not.toBe(before);
  // Connections are reused between reloads.
  const sum = (key: 'asked' | 'connections') => results.reduce((total, result) => total + result[key], 0);
  expect(sum('connections')).toBeLessThan(sum('asked'));
  expect(results.flatMap(({ failed }) => failed)).toEqual([]);
});
