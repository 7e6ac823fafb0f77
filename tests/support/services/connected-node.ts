// A real agent that has joined a scripted peer and serves www.example.com from an origin.
import { request } from 'node:http';
import type { HostDoc, SiteDoc, ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import { onTestFinished } from 'vitest';
import { testAgent } from './agent.ts';
import type { AgentOptions, TestAgent } from './agent.ts';
import { hostDoc, rule, siteDoc, zoneDoc } from './edge.ts';
import { eventually } from '../assertions/eventually.ts';
import { startOrigin } from '../fakes/origin.ts';
import type { Origin } from '../fakes/origin.ts';
import { freePorts } from './ports.ts';
import { startPeer } from '../fakes/scripted-control-plane.ts';
import type { Peer, PeerOptions } from '../fakes/scripted-control-plane.ts';
import { services } from './shared-services.ts';

export interface ConnectedNode {
  peer: Peer;
  agent: TestAgent;
  origin: Origin;
  ports: { http: number; https: number };
  zone: ZoneDoc;
  site: SiteDoc;
  www: HostDoc;
}

export interface ConnectedNodeOptions extends Pick<
  AgentOptions,
  'program' | 'as' | 'nginx' | 'path' | 'dir' | 'env' | 'restartOnExit'
> {
  peer?: Partial<PeerOptions>;
  /** Registers what stops a started program. By default it stops with the test. */
  onEnd?: (stop: () => Promise<void>) => void;
}

export async function startConnectedNode({
  peer: peerOptions,
  onEnd = onTestFinished,
  ...options
}: ConnectedNodeOptions = {}): Promise<ConnectedNode> {
  const peer = await startPeer({ ...services(), ...peerOptions });
  onEnd(() => peer.stop());
  const agent = await testAgent({ control: peer.url, token: peer.token, ...options });
  onEnd(() => agent.stop());
  const origin = await startOrigin();
  onEnd(() => origin.stop());
  origin.on('/', { body: 'from the origin' });
  const [http = 0, https = 0] = await freePorts(2);
  const ports = { http, https };
  const site = siteDoc({ cacheRules: [rule({ value: ['/cached/'] })] });
  const www = hostDoc(site, origin.port, { name: 'www.example.com' });
  const zone = zoneDoc(ports, { id: peer.zoneID, worker: { processes: 2, connections: 512 } });
  peer.store(zone, site, www);
  agent.start();
  await waitForSync({ peer, agent });
  return { peer, agent, origin, ports, zone, site, www };
}

/** `eventually` with a timeout long enough for a program to start. */
export const eventuallyStarted = <T>(look: () => T | Promise<T>): Promise<T> => eventually(look, { within: 50_000 });

/** Waits until the node reports the peer's latest revision. */
export const waitForSync = ({ peer, agent }: Pick<ConnectedNode, 'peer' | 'agent'>): Promise<void> =>
  eventuallyStarted(() => {
    if (peer.ackedRevision === peer.revision) return;
    const log = agent.log.map((line) => JSON.stringify(line)).join('\n');
    throw new Error(`the node is at ${peer.ackedRevision} of ${peer.revision}\n${log}`);
  });

export interface HttpResponse {
  status: number;
  body: string;
}

export function get(port: number, host: string, path = '/', address = '127.0.0.1'): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const call = request({ host: address, port, path, headers: { host }, agent: false }, (answer) => {
      let body = '';
      answer.on('data', (chunk: Buffer) => (body += chunk.toString()));
      answer.on('error', reject);
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body }));
    });
    call.on('error', reject);
    call.end();
  });
}

/** Sends requests in a loop. `stop` returns the number of requests and the errors. */
export function startRequestLoop(
  port: number,
  host: string,
): { stop: () => Promise<{ asked: number; failed: string[] }> } {
  let going = true;
  let asked = 0;
  const failed: string[] = [];
  const loop = (async () => {
    while (going) {
      asked += 1;
      await get(port, host).then(
        ({ status }) => void (status === 200 || failed.push(`status ${status}`)),
        (error: unknown) => failed.push(String(error)),
      );
      // The load shares the machine with the product under test.
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  return {
    stop: async () => {
      going = false;
      await loop;
      return { asked, failed };
    },
  };
}
