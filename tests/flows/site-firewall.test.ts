// Lists and region rules of a site on their way from a call to a visitor's response.
import { blacklists, geos } from '@edgeloom/contract/firewall/firewall.endpoints.ts';
import { simulate } from '@edgeloom/contract/simulate/simulate.endpoints.ts';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../support/assertions/eventually.ts';
import { statusFrom } from '../support/assertions/visit.ts';
import { nodeAt, servedSite } from '../support/builders/served-site.ts';
import { startOrigin } from '../support/fakes/origin.ts';
import { controlPlane } from '../support/services/control-plane.ts';
import { testDatabase } from '../support/services/shared-services.ts';

test('a list and a region rule reach a node, and a removed list lets visitors in again', async () => {
  const plane = await controlPlane({ databaseUrl: await testDatabase() });
  onTestFinished(() => plane.stop());
  const origin = await startOrigin();
  onTestFinished(() => origin.stop());
  const { port, zone, call, params, name } = await servedSite(plane, origin);
  const { agent } = await nodeAt(plane, zone);
  onTestFinished(() => agent.stop());
  agent.start();
  const visitFrom = (address: string) => statusFrom(address, port, name);
  const within = { within: 60_000 };
  await eventually(async () => expect(await visitFrom('127.0.5.1')).toBe(200), within);

  const list = await call(blacklists.create, { params, body: { ips: ['127.0.5.0-127.0.5.9'] } });
  await eventually(async () => expect(await visitFrom('127.0.5.1')).toBe(403), within);
  expect(await visitFrom('127.0.5.10')).toBe(200);

  await call(geos.create, { params, body: { geoIDs: ['country-TW'], blockType: 0 } });
  // The bundled database knows this network.
  await eventually(async () => {
    const { steps } = await call(simulate.run, { params, body: { url: `http://${name}:${port}/`, ip: '168.95.1.1' } });
    expect(steps.find(({ step }) => step === 'geo')).toMatchObject({ decision: 'refused' });
  }, within);

  await call(blacklists.remove, { params, body: { ids: [list.id] } });
  await eventually(async () => expect(await visitFrom('127.0.5.1')).toBe(200), within);
}, 240_000);
