// Kills processes during many changes: acknowledged changes reach the edge, and visitors notice nothing. Also damaged
// documents, which must not replace good ones.
import { ApiError } from '@edgeloom/contract/client.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { sha256 } from '@edgeloom/contract/edge/digest.ts';
import { DOCUMENT_SCHEMA } from '@edgeloom/contract/edge/documents.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { subjects } from '@edgeloom/contract/subjects.ts';
import { connect, jwtAuthenticator } from 'nats';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { collectedStops } from '../support/services/collected-stops.ts';
import { openTrust } from '../support/services/nats-trust.ts';
import { testAgent } from '../support/services/agent.ts';
import type { TestAgent } from '../support/services/agent.ts';
import { unique } from '../support/builders/build.ts';
import type { BuiltSite } from '../support/builders/build.ts';
import { casesOfRun, isLongRun } from '../support/builders/long-run.ts';
import { controlPlane } from '../support/services/control-plane.ts';
import type { ControlPlane } from '../support/services/control-plane.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { startOrigin } from '../support/fakes/origin.ts';
import type { Origin } from '../support/fakes/origin.ts';
import { ownPostgres } from '../support/services/own-postgres.ts';
import type { OwnPostgres } from '../support/services/own-postgres.ts';
import { freePort } from '../support/services/ports.ts';
import { visit } from '../support/assertions/visit.ts';

let postgres: OwnPostgres;
let plane: ControlPlane;
let origin: Origin;
let agent: TestAgent;
let site: BuiltSite;
let port: number;
let nodeID: string;

const { onEnd, stopAll } = collectedStops();
beforeAll(async () => {
  postgres = await ownPostgres();
  onEnd(() => postgres.stop());
  plane = await controlPlane({ databaseUrl: postgres.databaseUrl });
  onEnd(() => plane.stop());
  origin = await startOrigin();
  onEnd(() => origin.stop());
  port = await freePort();
  const zone = await plane.build.zone({ ports: [port], tlsPorts: [] });
  site = await plane.build.site({ product: await plane.build.product({ zone }) });
  const invitation = await plane.node(zone);
  ({ nodeID } = invitation);
  agent = await testAgent(invitation);
  onEnd(() => agent.stop());
  agent.start();
}, 180_000);
afterAll(stopAll);

async function addDomain(name = `${unique('www')}.example.com`): Promise<string> {
  const body = { domains: [{ name, upstreams: [{ address: '127.0.0.1', port: origin.port }] }] };
  await plane.as(site.owner).call(domains.create, { params: site.params, body });
  return name;
}

const served = (name: string) =>
  eventually(async () => expect((await visit(port, name)).status, name).toBe(200), { within: 120_000 });

/** Retries until acknowledged. NAME_TAKEN means that an earlier response was lost. */
async function retryUntilAcknowledged(name: string): Promise<void> {
  await eventually(
    () =>
      addDomain(name).catch((error: unknown) => {
        if (error instanceof ApiError && error.status === 409) return;
        if (error instanceof ApiError && error.status < 500) return Promise.reject(error);
        throw error;
      }),
    { within: 120_000 },
  );
}

/** Requests one name in a loop until stopped. Returns all responses other than 200. */
function visitors(name: string) {
  const failures: string[] = [];
  let visits = 0;
  let going = true;
  const walk = async () => {
    while (going) {
      visits += 1;
      await visit(port, name, `/${visits}`).then(
        ({ status }) => void (status !== 200 && failures.push(String(status))),
        (error: unknown) => void failures.push(String(error)),
      );
      // The load shares the machine with the product under test.
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const walking = [walk(), walk()];
  return {
    async stop() {
      going = false;
      await Promise.all(walking);
      return { visits, failures };
    },
  };
}

const CHANGES = isLongRun ? 200 : 24;

describe.each([
  [
    'the api',
    async () => {
      await plane.api.kill();
      await plane.api.start();
    },
  ],
  [
    'the agent',
    async () => {
      await agent.end('SIGKILL');
      agent.start();
    },
  ],
  [
    'NATS',
    async () => {
      await plane.nats.kill();
      await plane.nats.start();
    },
  ],
  [
    'PostgreSQL',
    async () => {
      await postgres.kill();
      await postgres.start();
    },
  ],
] as const)(`when %s is killed in the middle of ${CHANGES} changes`, (_, fault) => {
  test(
    'every acknowledged change is at the edge afterwards, and no visitor noticed',
    { timeout: 400_000 },
    async () => {
      const steady = await addDomain();
      await served(steady);
      const traffic = visitors(steady);
      const names = Array.from({ length: CHANGES }, (_, i) => `n${i}-${unique('www')}.example.com`);
      const faulted: Promise<void>[] = [];
      let next = 0;
      const change = async () => {
        for (let name = names[next]; name !== undefined; name = names[next]) {
          next += 1;
          if (next === CHANGES / 2) faulted.push(fault());
          await retryUntilAcknowledged(name);
        }
      };
      await Promise.all([change(), change(), change(), change()]);
      await Promise.all(faulted);
      for (const name of names) await served(name);
      const { visits, failures } = await traffic.stop();
      expect(failures).toEqual([]);
      expect(visits).toBeGreaterThan(CHANGES);
      await eventually(
        async () => {
          const node = await plane.as(site.client).call(nodes.get, { params: { nodeID } });
          expect(node).toMatchObject({ status: 'enabled', currentSerial: node.latestSerial });
        },
        { within: 120_000 },
      );
    },
  );
});

describe('a document damaged in transit', () => {
  const damages: [string, (body: string) => { body: string; hash: (body: string) => string }][] = [
    ['by a flipped bit', (body) => ({ body: body.replace('"maxFails":3', '"maxFails":2'), hash: () => sha256(body) })],
    ['by being cut short', (body) => ({ body: body.slice(0, -20), hash: () => sha256(body) })],
    [
      'before it was hashed, so that it is cut short and its hash is right',
      (body) => ({ body: body.slice(0, -20), hash: sha256 }),
    ],
    ['into another shape', (body) => ({ body: body.replace('"upstreams":[', '"upstreams":["x",'), hash: sha256 })],
    [
      'into the document of another name',
      (body) => ({ body: body.replace('"name":"', '"name":"other.'), hash: sha256 }),
    ],
  ];
  test.each(casesOfRun(damages, 3))('%s is refused, and the one before it serves', async (_, damage) => {
    const name = await addDomain();
    await served(name);
    const key = `host/${name}`;
    const row = await plane.installation.db.edgeDocument.findUniqueOrThrow({
      where: { zoneId_key: { zoneId: site.zoneId, key } },
    });
    const { revision } = await plane.installation.db.zone.findUniqueOrThrow({ where: { id: site.zoneId } });
    const { body, hash } = damage(row.body ?? '');
    const { jwt, seed } = (await openTrust(plane.secretsDir)).ownCredentials();
    const line = await connect({ servers: plane.nats.url, authenticator: jwtAuthenticator(jwt, seed) });
    onTestFinished(() => line.close());
    const reports: string[] = [];
    line.subscribe(subjects.ack(nodeID), { callback: (_, msg) => void reports.push(msg.string()) });
    line.subscribe(subjects.sync(nodeID), { callback: (_, msg) => void reports.push(msg.string()) });
    await line.flush();
    const doc = { key, revision: revision + 1, sha256: hash(body), body };
    const push = {
      schema: DOCUMENT_SCHEMA,
      zone: site.zoneId,
      previous: revision,
      revision: revision + 1,
      docs: [doc],
    };
    line.publish(subjects.zoneDocs(site.zoneId), JSON.stringify(push));
    // The node either rejects the document or requests it again.
    await eventually(() => expect(reports).not.toEqual([]));
    expect((await visit(port, name)).status).toBe(200);
    // The node stored a false revision. The next heartbeat would detect that; here the operator resets the node.
    await plane.as(site.client).call(nodes.reset, { body: { ids: [nodeID] } });
    const other = await addDomain();
    await served(other);
    expect((await visit(port, name)).status).toBe(200);
    await eventually(
      async () => {
        const config = await plane.as(site.client).call(nodes.config, { params: { nodeID } });
        expect(config).toMatchObject({ status: 'enabled', rejected: [], currentSerial: config.latestSerial });
      },
      { within: 120_000 },
    );
  });
});
