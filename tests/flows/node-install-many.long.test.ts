// Installs many simulated machines at once over real SSH. That the installation works is tested in
// node-install.test.ts.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { sha256 } from '@edgeloom/contract/edge/digest.ts';
import { nodeJobs } from '@edgeloom/contract/node-jobs/node-jobs.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { controlPlane } from '../support/services/control-plane.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { startFakeMachines, portOf } from '../support/fakes/fake-machines.ts';
import { ownReleases } from '../support/builders/checkout-release.ts';
import { testDatabase } from '../support/services/shared-services.ts';

const MACHINES = 50;
const password = 'of each machine';

test(
  `${MACHINES} machines are installed at once, and API calls are answered at the same time`,
  { timeout: 400_000 },
  async () => {
    const plane = await controlPlane({
      databaseUrl: await testDatabase(),
      settings: { NODE_ALLOW: '127.0.0.0/8', ...(await ownReleases()) },
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
    /** Writes what the installed agent would report. */
    const joined = async (token: string) => {
      const { id } = await db.edgeNode.findUniqueOrThrow({ where: { joinHash: sha256(token) } });
      await db.edgeNode.update({ where: { id }, data: { joinedAt: new Date(), publicKey: `key of ${id}` } });
      const state = { revision: revision + MACHINES * 2, syncedAt: new Date() };
      await db.nodeState.upsert({ where: { nodeId: id }, create: { nodeId: id, ...state }, update: state });
      begun.add(id);
    };
    const { port, stop } = await startFakeMachines(password, joined);
    onTestFinished(stop);

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
      { within: 240_000 },
    );
    const states = await db.nodeJob.findMany({ where: { id: { in: jobIDs } }, select: { state: true, steps: true } });
    const failed = states.flatMap(({ steps }) => steps.filter(({ message }) => message !== null));
    expect(failed.map(({ name, message }) => `${name} ${message}`)).toEqual([]);
    expect(states.filter(({ state }) => state === 'completed')).toHaveLength(MACHINES);
    expect(begun.size).toBe(MACHINES);
    expect(calls).toBeGreaterThan(1);
  },
);
