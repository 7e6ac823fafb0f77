// The state of the parts that an operator depends on.
import { afterAll, expect, test } from 'vitest';
import { clientHealth } from '@edgeloom/contract/client-health/client-health.endpoints.ts';
import { testApp } from '../support/services/app.ts';
import { changed } from '../support/services/background-work.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
const { db } = installation;
afterAll(close);

const HOUR_MS = 3_600_000;

test('an operator without anything is well', async () => {
  const { client } = await build.client();
  expect(await as(client).call(clientHealth.get)).toMatchObject({
    status: 'ok',
    checks: { postgres: { ok: true } },
    nodes: { online: 0, offline: 0, disabled: 0, rejecting: 0 },
    publishing: { failing: 0, waiting: 0, delaySeconds: 0 },
    logs: { silentNodes: 0 },
    certificates: { failed: 0, ending: 0 },
  });
});

test('nodes, changes and certificates are those of the own zones and sites', async () => {
  const [site, other] = [await build.site(), await build.site()];
  const zone = await db.zone.findUniqueOrThrow({ where: { id: site.zoneId } });
  const of = { ...zone, client: site.client };
  const past = new Date(Date.now() - HOUR_MS);
  const state = (nodeId: string, connectedAt: Date | null, rejected: { key: string }[]) =>
    db.nodeState.create({ data: { nodeId, connectedAt, lastSeenAt: new Date(), rejected } });
  const join = async (enabled: boolean) => {
    const { id } = await build.node({ zone: of, enabled });
    await db.edgeNode.update({ where: { id }, data: { joinedAt: past } });
    return id;
  };
  await state(await join(true), past, [{ key: 'zone' }]);
  await state(await join(true), null, []);
  await join(true);
  await join(false);
  await changed(db, site.zoneId, `host/a.example.com`);
  await db.outbox.create({
    data: { zoneId: site.zoneId, key: 'host/b.example.com', failedAt: new Date(), error: 'broken' },
  });
  await db.certificate.create({ data: { siteId: site.id, name: 'failed', names: [], status: 'fail' } });
  const health = await as(site.client).call(clientHealth.get);
  expect(health).toMatchObject({
    status: 'error',
    nodes: { online: 1, offline: 2, disabled: 1, rejecting: 1 },
    publishing: { failing: 1 },
    logs: { silentNodes: 1 },
    certificates: { failed: 1, ending: 0 },
  });
  expect(health.publishing.waiting).toBeGreaterThan(0);
  const sub = await build.subClient(site, [], { permissions: ['setting:read'] });
  for (const who of [other.client, sub])
    expect(await as(who).call(clientHealth.get)).toMatchObject({
      nodes: { online: 0, offline: 0, disabled: 0, rejecting: 0 },
      publishing: { failing: 0 },
      certificates: { failed: 0, ending: 0 },
    });
});
