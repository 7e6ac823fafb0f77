// Fifty machines at once. They are played: what our scripts ask is answered as a fine machine answers, over real SSH; that
// they are set up by it is proven on machines, in node-install.test.ts.
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import ssh2 from 'ssh2';
import { tokenHash } from '@edgeloom/api/node-link/join.ts';
import { nodeJobs } from '@edgeloom/contract/node-jobs/node-jobs.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { makeReleaseKey } from '../../deploy/release-key.ts';
import { makeRelease, readKey } from '../../deploy/release.ts';
import { controlPlane } from '../support/control-plane.ts';
import { eventually } from '../support/eventually.ts';
import { testDatabase } from '../support/services.ts';
import { testDir } from '../support/test-dir.ts';

const MACHINES = 50;
const password = 'of each machine';

test('fifty machines are installed at once, and calls are answered meanwhile', { timeout: 120_000 }, async () => {
  // Small, as all of it is taken apart again by this process: it would be measured instead of the API.
  const dir = await testDir();
  await writeFile(path.join(dir, 'agent.mjs'), '// an agent');
  const { privateKey, publicKey } = await makeReleaseKey(dir);
  const releases = path.join(dir, 'releases');
  await makeRelease({
    product: 'agent',
    version: '1.0.0',
    from: path.join(dir, 'agent.mjs'),
    to: releases,
    key: await readKey(privateKey),
  });
  const plane = await controlPlane({
    databaseUrl: await testDatabase(),
    settings: { NODE_ALLOW: '127.0.0.0/8', RELEASES_DIR: releases, RELEASE_KEYS: publicKey },
  });
  onTestFinished(() => plane.stop());
  const zone = await plane.build.zone();
  const { call } = plane.as(zone.client);
  const { db } = plane.installation;
  const seeing = createServer((_, reply) => void reply.writeHead(903, { 'x-request-id': 'it' }).end()).listen(
    0,
    '0.0.0.0',
  );
  onTestFinished(() => void seeing.close());
  await once(seeing, 'listening');
  await db.zonePort.updateMany({ where: { zoneId: zone.id, tls: false }, data: { port: portOf(seeing.address()) } });
  const { revision } = await db.zone.findUniqueOrThrow({ where: { id: zone.id } });

  const begun = new Set<string>();
  /** What its agent would have told us by now. */
  const joined = async (token: string) => {
    const { id } = await db.edgeNode.findUniqueOrThrow({ where: { joinHash: tokenHash(token) } });
    await db.edgeNode.update({ where: { id }, data: { joinedAt: new Date(), publicKey: `key of ${id}` } });
    const state = { revision: revision + MACHINES * 2, syncedAt: new Date() };
    await db.nodeState.upsert({ where: { nodeId: id }, create: { nodeId: id, ...state }, update: state });
    begun.add(id);
  };
  const port = await startMachines(joined);

  const ids: string[] = [];
  for (let i = 0; i < MACHINES; i += 1) {
    const body = {
      name: `node-${i}`,
      ip: `127.0.1.${i + 1}`,
      zoneID: zone.id,
      portType: '7' as const,
      ssh: { port, password },
    };
    ids.push((await call(nodes.create, { body })).id);
  }
  const { jobIDs } = await call(nodeJobs.initialize, { body: { ids } });
  let calls = 0;
  const open = () => db.nodeJob.count({ where: { id: { in: jobIDs }, endedAt: null } });
  await eventually(
    async () => {
      await call(nodes.list, { query: { pageSize: 50 } });
      calls += 1;
      expect(await open()).toBe(0);
    },
    { within: 60_000 },
  );
  const states = await db.nodeJob.findMany({ where: { id: { in: jobIDs } }, select: { state: true, steps: true } });
  const failed = states.flatMap(({ steps }) => steps.filter(({ message }) => message !== null));
  expect(failed.map(({ name, message }) => `${name} ${message}`)).toEqual([]);
  expect(states.filter(({ state }) => state === 'completed')).toHaveLength(MACHINES);
  expect(begun.size).toBe(MACHINES);
  expect(calls).toBeGreaterThan(1);
});

/** One server for all: machines differ by their addresses alone. */
async function startMachines(joined: (token: string) => Promise<void>): Promise<number> {
  const hostKey = ssh2.utils.generateKeyPairSync('ed25519').private;
  const answer = async (command: string, channel: ssh2.ServerChannel) => {
    const asked = await scriptOf(command, channel);
    const token = /^EDGELOOM_TOKEN=(.+)$/m.exec(asked)?.[1];
    if (token !== undefined) await joined(token);
    channel.write(answerTo(asked));
    channel.exit(0);
    channel.end();
  };
  const server = new ssh2.Server({ hostKeys: [hostKey] }, (client) => {
    client.on('error', () => undefined);
    client.on('authentication', (asked) => {
      if (asked.method === 'password' && asked.password === password) asked.accept();
      else asked.reject(['password']);
    });
    client.on('session', (accept) => {
      accept().on('exec', (acceptExec, _, { command }) => {
        answer(command, acceptExec()).catch(() => client.end());
      });
    });
  });
  server.listen(0, '0.0.0.0');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return portOf(server.address());
}

/** With data on its standard input the script is in the command. */
async function scriptOf(command: string, input: Readable): Promise<string> {
  if (command === 'sh -s') return text(input);
  await buffer(input);
  return command;
}

function answerTo(script: string): string {
  if (script.includes('::system')) return '::system rocky 9.4 x86_64\n';
  if (script.includes('::now')) return `::now ${Math.floor(Date.now() / 1000)}\n`;
  if (script.includes('::node ')) return '::node \n';
  // The agent is sent to each; nginx and Node are there.
  if (script.includes('/releases/') && script.includes('::absent')) return '::absent\n';
  return 'done\n';
}

const portOf = (address: AddressInfo | string | null) => (typeof address === 'object' && address ? address.port : 0);
