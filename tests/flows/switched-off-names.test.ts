// A disabled name under another customer's wildcard, from the API call to what visitors see.
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { hostKey } from '@edgeloom/contract/edge/documents.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testAgent, type TestAgent } from '../support/services/agent.ts';
import { unique, type BuiltSite } from '../support/builders/build.ts';
import { controlPlane, type ControlPlane } from '../support/services/control-plane.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { startOrigin, type Origin } from '../support/fakes/origin.ts';
import { freePorts } from '../support/services/ports.ts';
import { testDatabase } from '../support/services/shared-services.ts';
import { visit } from '../support/assertions/visit.ts';

let plane: ControlPlane;
let agent: TestAgent;
let origins: Origin[];
let [owner, other]: BuiltSite[] = [];
const [http = 0, https = 0] = await freePorts(2);
const within = 60_000;

beforeAll(async () => {
  plane = await controlPlane({ databaseUrl: await testDatabase() });
  origins = await Promise.all([startOrigin(), startOrigin()]);
  const zone = await plane.build.zone({ ports: [http], tlsPorts: [https] });
  const product = await plane.build.product({ zone });
  [owner, other] = [await plane.build.site({ product }), await plane.build.site({ product })];
  agent = await testAgent(await plane.node(zone));
  agent.start();
}, 120_000);
afterAll(async () => {
  await agent.stop();
  await plane.stop();
  await Promise.all(origins.map((origin) => origin.stop()));
});

async function add(site: BuiltSite | undefined, name: string, origin: Origin | undefined) {
  if (!site) throw new Error('no site');
  const { call } = plane.as(site.owner);
  const upstreams = [{ address: '127.0.0.1', port: origin?.port ?? 0 }];
  const { ids } = await call(domains.createSimple, { params: site.params, body: { names: [name], upstreams } });
  return {
    turn: (enabled: boolean) => call(domains.status, { params: site.params, body: { ids, enabled } }),
    remove: () => call(domains.remove, { params: site.params, body: { ids } }),
  };
}

test('gets 903, and is served by the wildcard once its row is deleted', async () => {
  const zone = `${unique('covered')}.example`;
  const [shop, free] = [`shop.${zone}`, `free.${zone}`];
  const mine = await add(owner, shop, origins[0]);
  const [first, second] = origins;
  first?.on('/', { body: 'the shop' });
  second?.on('/', { body: 'the wildcard' });
  // Marks the name as verified.
  const { installation } = plane;
  await installation.db.nameProof.create({
    data: { holderId: other?.owner.id ?? '', name: zone, provenAt: new Date() },
  });
  const wildcard = await add(other, `*.${zone}`, second);
  await eventually(async () => expect(await visit(http, shop)).toMatchObject({ body: 'the shop' }), { within });
  await eventually(async () => expect(await visit(http, free)).toMatchObject({ body: 'the wildcard' }), { within });

  await mine.turn(false);
  await eventually(async () => expect((await visit(http, shop)).status).toBe(903), { within });
  expect(await visit(http, free)).toMatchObject({ body: 'the wildcard' });
  const document = await installation.db.edgeDocument.findFirst({ where: { key: hostKey(shop) } });
  for (const secret of [owner?.id, owner?.owner.id, String(first?.port)]) expect(document?.body).not.toContain(secret);

  // The wildcard is enabled again after the name was disabled.
  await wildcard.turn(false);
  await eventually(async () => expect((await visit(http, free)).status).toBe(903), { within });
  await wildcard.turn(true);
  await eventually(async () => expect(await visit(http, free)).toMatchObject({ body: 'the wildcard' }), { within });
  expect((await visit(http, shop)).status).toBe(903);

  await mine.turn(true);
  await eventually(async () => expect(await visit(http, shop)).toMatchObject({ body: 'the shop' }), { within });
  await mine.turn(false);
  await mine.remove();
  await eventually(async () => expect(await visit(http, shop)).toMatchObject({ body: 'the wildcard' }), { within });
});
