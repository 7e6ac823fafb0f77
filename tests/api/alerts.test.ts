// Alerts begin and end with the conditions of the attention list, once each.
import { alerts } from '@edgeloom/contract/alerts/alerts.endpoints.ts';
import { AlertKind, alertKinds } from '@edgeloom/contract/alerts/alerts.ts';
import { afterAll, expect, test } from 'vitest';
import { attentionItems } from '../support/builders/attention-items.ts';
import type { SignedInAccount } from '../support/builders/api-clients.ts';
import { testApp } from '../support/services/app.ts';
import { raiseAlerts } from '../support/services/background-work.ts';

const { as, build, installation, close } = await testApp();
const { db } = installation;
afterAll(close);

const quiet = { warn: () => undefined };
const pass = () => raiseAlerts(installation, quiet);
const seenBy = async (who: SignedInAccount, query: { isOpen?: boolean } = {}) =>
  (await as(who).call(alerts.list, { query: { pageSize: 500, ...query } })).data;
const kindsSeenBy = async (who: SignedInAccount) => (await seenBy(who)).map(({ kind }) => kind).toSorted();

test('each condition begins one alert, for its operator and for the customer of its site', async () => {
  const site = await build.site();
  const names: Record<string, string> = await attentionItems(build, installation, site);
  const stranger = await build.site();
  await Promise.all([pass(), pass()]);
  await pass();
  const seen = await seenBy(site.client);
  expect(seen.map(({ kind }) => kind).toSorted()).toEqual(AlertKind.options.toSorted());
  for (const { kind, name, endedAt, severity } of seen)
    expect([name, endedAt, severity]).toEqual([names[kind], null, alertKinds[kind].severity]);
  const ofSites = AlertKind.options.filter((kind) => alertKinds[kind].isOfSite);
  expect(await kindsSeenBy(site.owner)).toEqual(ofSites.toSorted());
  expect((await seenBy(site.owner)).every((alert) => alert.site?.id === site.id)).toBe(true);
  expect([await seenBy(stranger.client), await seenBy(stranger.owner)]).toEqual([[], []]);
});

test('an alert ends with its condition, and the next occurrence is another alert', async () => {
  const site = await build.site();
  const domain = await build.domain({ site });
  const setStatus = async (cnameStatus: 'active' | 'inactive') => {
    await db.domain.update({ where: { id: domain.id }, data: { cnameStatus } });
    await pass();
  };
  await setStatus('inactive');
  await setStatus('active');
  await setStatus('inactive');
  expect(await seenBy(site.owner, { isOpen: true })).toMatchObject([{ kind: 'cnameInactive', name: domain.name }]);
  const [ended, ...others] = await seenBy(site.owner, { isOpen: false });
  expect(others).toEqual([]);
  expect(ended?.endedAt).not.toBeNull();
});

test('alerts of a deleted object end', async () => {
  const site = await build.site();
  const domain = await build.domain({ site });
  await db.domain.update({ where: { id: domain.id }, data: { cnameStatus: 'inactive' } });
  await pass();
  await db.site.delete({ where: { id: site.id } });
  await pass();
  expect(await seenBy(site.client)).toMatchObject([{ name: domain.name, site: null, endedAt: expect.any(String) }]);
});

test('a sub-account sees the alerts of its zones only', async () => {
  const site = await build.site();
  const domain = await build.domain({ site });
  await db.domain.update({ where: { id: domain.id }, data: { cnameStatus: 'inactive' } });
  await pass();
  const tenant = { clientId: site.clientId, client: site.client };
  const rights = { permissions: ['notify:read' as const] };
  expect(await kindsSeenBy(await build.subClient(tenant, [site.zone], rights))).toEqual(['cnameInactive']);
  expect(await kindsSeenBy(await build.subClient(tenant, [], rights))).toEqual([]);
});
