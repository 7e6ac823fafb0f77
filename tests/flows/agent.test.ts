// One node against a peer that does what the test says: what it serves, and what it tells.
import { request } from 'node:http';
import type { ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import { afterEach, expect, test } from 'vitest';
import { testAgent } from '../support/agent.ts';
import type { TestAgent } from '../support/agent.ts';
import { hostDoc, siteDoc, zoneDoc } from '../support/edge.ts';
import { eventually } from '../support/eventually.ts';
import { startOrigin } from '../support/origin.ts';
import { freePorts } from '../support/ports.ts';
import { startPeer } from '../support/scripted-peer.ts';
import { services } from '../support/services.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

test('a fresh node joins, takes its documents and serves', async () => {
  const { peer, agent, ports, www } = await standing();
  expect(await get(ports.http, 'www.example.com')).toEqual({ status: 200, body: 'from the origin' });
  expect(peer.joins).toHaveLength(1);
  expect(peer.acks.at(-1)).toMatchObject({ revision: peer.revision, state: 'applied', rejected: [] });
  await eventually(() => expect(peer.heartbeats.at(-1)).toMatchObject({ nginx: 'running', digest: peer.digest }));
  void agent;
  void www;
});

/** A node that has joined, and serves www.example.com from an origin. */
async function standing(zone: Partial<ZoneDoc> = {}) {
  const peer = await startPeer(services());
  cleanups.push(() => peer.stop());
  const agent = await testAgent({ control: peer.url, token: peer.token });
  cleanups.push(() => agent.stop());
  const origin = await startOrigin();
  cleanups.push(() => origin.stop());
  origin.on('/', { body: 'from the origin' });
  const [http = 0, https = 0] = await freePorts(2);
  const ports = { http, https };
  const site = siteDoc();
  const www = hostDoc(site, origin.port, { name: 'www.example.com' });
  const base = zoneDoc(ports, { id: peer.zoneID, ...zone });
  peer.note(base, site, www);
  agent.start();
  await settled(peer, agent);
  return { peer, agent, origin, ports, zone: base, site, www };
}

/** Waits until the node has reached what the peer has published. */
function settled(peer: { reached: number; revision: number }, agent: TestAgent): Promise<void> {
  return eventually(() => {
    if (peer.reached !== peer.revision)
      throw new Error(`at ${peer.reached} of ${peer.revision}: ${JSON.stringify(agent.log)}`);
  });
}

function get(port: number, host: string, path = '/'): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const call = request({ host: '127.0.0.1', port, path, headers: { host }, agent: false }, (answer) => {
      let body = '';
      answer.on('data', (chunk: Buffer) => (body += chunk.toString()));
      answer.on('error', reject);
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body }));
    });
    call.on('error', reject);
    call.end();
  });
}
