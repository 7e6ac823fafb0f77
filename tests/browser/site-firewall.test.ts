// A customer edits the firewall of a site.
import { acls } from '@edgeloom/contract/acl/acl.endpoints.ts';
import { cacheRules } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { blacklists, firewall, geos, userAgents, whitelists } from '@edgeloom/contract/firewall/firewall.endpoints.ts';
import { layer4LimitConns, layer4Positions } from '@edgeloom/contract/layer4-rules/layer4-rules.endpoints.ts';
import { layer4Blacklists } from '@edgeloom/contract/layer4-lists/layer4-lists.endpoints.ts';
import { listSources, zoneListSources } from '@edgeloom/contract/list-sources/list-sources.endpoints.ts';
import { luaAcls } from '@edgeloom/contract/lua-acl/lua-acl.endpoints.ts';
import { frequencies, limitConns, limitReqs } from '@edgeloom/contract/limits/limits.endpoints.ts';
import { redirects } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { rates } from '@edgeloom/contract/rates/rates.endpoints.ts';
import { antiCCs } from '@edgeloom/contract/site-anti-cc/site-anti-cc.endpoints.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/assertions/eventually.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';
import { addLogs, logLine } from '../support/builders/traffic.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';

let consoles: Consoles;
beforeAll(async () => {
  consoles = await startConsoles();
}, 400_000);
afterAll(() => consoles.stop());

async function newSite() {
  const { build, as } = consoles.app;
  const site = await build.site();
  const { call } = as(site.owner);
  const address = `sitesManagement/sitesSetting/${site.id}/${site.name}?view=firewall`;
  return { site, call, params: site.params, address };
}

test('a pasted list is checked line by line, stored with its expiry, edited and removed', async () => {
  const { site, call, params, address } = await newSite();
  const { page } = await consoles.openAs(site.owner, address, { language: 'en' });
  await page.getByText('No block lists yet').waitFor();
  await keepPicture(page, 'firewall-empty');
  await page.getByRole('button', { name: 'Add list' }).first().click();
  const form = page.getByRole('dialog');
  const lines = Array.from({ length: 300 }, (_, i) => `198.51.${i >> 8}.${i & 255} # scanner`);
  await form.getByLabel('Addresses').fill([...lines, '192.0.2.1-192.0.2.9 2030-01-01', '203.0.113.300'].join('\n'));
  await form.getByText('Wrong format').first().waitFor();
  await keepPicture(page, 'firewall-list-form');
  await form.getByLabel('Addresses').fill([...lines, '192.0.2.1-192.0.2.9 2030-01-01'].join('\n'));
  await form.getByLabel('Memo').fill('scanners');
  await form
    .getByRole('button', { name: /^(Add|Create)/ })
    .last()
    .click();
  const list = async () => (await call(blacklists.list, { params })).data;
  await eventually(async () => expect(await list()).toHaveLength(1));
  const [made] = await list();
  expect(made).toMatchObject({
    memo: 'scanners',
    expires: [{ ip: '192.0.2.1-192.0.2.9', at: '2030-01-01T00:00:00.000Z' }],
  });
  expect(made?.ips).toHaveLength(301);
  await page.getByText('+298').waitFor();
  await keepPicture(page, 'firewall-lists');
});

test('regions, reputation and user agents are set', async () => {
  const { site, call, params, address } = await newSite();
  const { page } = await consoles.openAs(site.owner, `${address}&tab=geo`, { language: 'zh-TW' });
  await page.getByRole('button', { name: '新增地區規則' }).first().click();
  const form = page.getByRole('dialog');
  await form.getByRole('combobox', { name: '地區' }).fill('日本');
  await page.getByRole('option', { name: '日本' }).click();
  await page.keyboard.press('Escape');
  await keepPicture(page, 'firewall-geo-form');
  await form.getByRole('button', { name: '新增', exact: true }).click();
  await eventually(async () =>
    expect((await call(geos.list, { params })).data).toMatchObject([{ geoIDs: ['country-JP'] }]),
  );
  await page.getByRole('cell', { name: '日本', exact: true }).waitFor();
  await keepPicture(page, 'firewall-geos');

  await page.getByRole('link', { name: 'IP 信譽' }).click();
  await page.getByRole('switch', { name: '啟用' }).locator('xpath=..').click();
  await keepPicture(page, 'firewall-reputation');
  await page.getByRole('button', { name: '儲存' }).click();
  await eventually(async () =>
    expect(await call(firewall.abuseIP, { params })).toMatchObject({ score: 75, enabled: true }),
  );

  await page.getByRole('link', { name: 'User-Agent' }).click();
  await page.getByRole('button', { name: '新增 User-Agent 規則' }).first().click();
  await page.getByRole('dialog').getByLabel('User-Agent 規則運算式').fill('^curl/');
  await page.getByRole('dialog').getByRole('button', { name: '新增', exact: true }).click();
  await eventually(async () =>
    expect((await call(userAgents.list, { params })).data).toMatchObject([{ userAgentRegex: '^curl/', blockType: 1 }]),
  );
  await keepPicture(page, 'firewall-agents');
});

test('a layer-4 list is pasted, and found by one of its addresses', async () => {
  const { site, call, params, address } = await newSite();
  const { page } = await consoles.openAs(site.owner, `${address}&tab=layer4Black`);
  await page.getByText('No layer-4 block lists yet').waitFor();
  await page.getByRole('button', { name: 'Add list' }).first().click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Addresses').fill('203.0.113.7\n2001:DB8::/32\n192.0.2.1-192.0.2.9');
  await form.getByLabel('Memo').fill('scanners');
  await keepPicture(page, 'layer4-list-form');
  await form.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByText('203.0.113.7, 2001:db8::/32, 192.0.2.1-192.0.2.9').waitFor();
  await keepPicture(page, 'layer4-lists');
  expect((await call(layer4Blacklists.list, { params, query: { keyword: '2001:db8::/32' } })).total).toBe(1);
  await page.setViewportSize({ width: 360, height: 800 });
  await keepPicture(page, 'layer4-lists-narrow');
});

test('a port is set to refuse addresses of the block list first', async () => {
  const { site, call, params, address } = await newSite();
  const { port } = await consoles.app.build.forward({ site });
  const { page, browserErrors } = await consoles.openAs(site.owner, `${address}&tab=layer4Positions`);
  await page.getByText('Allow lists come first at all ports').waitFor();
  await page.getByRole('button', { name: 'Add port' }).first().click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Port').fill(String(port + 1));
  await form.getByRole('button', { name: 'Add', exact: true }).click();
  await form.getByText('Does not exist or was removed').first().waitFor();
  expect(browserErrors()).toEqual([expect.stringContaining('400')]);
  await form.getByLabel('Port').fill(String(port));
  await keepPicture(page, 'layer4-position-form');
  await form.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('cell', { name: String(port), exact: true }).waitFor();
  await keepPicture(page, 'layer4-positions');
  const { data } = await call(layer4Positions.list, { params });
  expect(data).toMatchObject([{ port, blackPos: 1, whitePos: 2 }]);
});

test('a connection limit is added, edited without losing its delay, and removed', async () => {
  const { site, call, params, address } = await newSite();
  const { port } = await consoles.app.build.forward({ site });
  const list = async () => (await call(layer4LimitConns.list, { params })).data;
  const { page } = await consoles.openAs(site.owner, `${address}&tab=layer4LimitConns`);
  await page.getByText('No connection limits yet').waitFor();
  await keepPicture(page, 'layer4-limits-empty');
  await page.getByRole('button', { name: 'Add connection limit' }).first().click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Port').fill(String(port));
  await form.getByLabel('Connections per visitor').fill('20');
  await form.getByText('not applied').waitFor();
  await keepPicture(page, 'layer4-limit-form');
  await form.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('cell', { name: String(port), exact: true }).waitFor();
  const [added] = await list();
  expect(added).toMatchObject({ port, max: 20, burst: 0, delay: 0, enabled: true });

  await call(layer4LimitConns.update, { params, body: { id: added?.id ?? '', port, max: 20, delay: 250 } });
  await page.reload();
  const choose = async (action: string) => {
    await page.getByRole('button', { name: /Actions/ }).click();
    await page.getByRole('menuitem', { name: action }).click();
  };
  await choose('Edit');
  await form.getByLabel('Burst').fill('5');
  await form.getByRole('button', { name: 'Save', exact: true }).click();
  await eventually(async () => expect(await list()).toMatchObject([{ port, max: 20, burst: 5, delay: 250 }]));
  await page.getByRole('cell', { name: '5', exact: true }).waitFor();
  await keepPicture(page, 'layer4-limits');
  await consoles.app.installation.db.portRule.deleteMany({ where: { siteId: site.id } });
  await page.reload();
  await page.getByText('Not forwarded with TCP').waitFor();
  await keepPicture(page, 'layer4-limit-not-forwarded');

  const phone = await consoles.openAs(site.owner, `${address}&tab=layer4LimitConns`, {
    language: 'zh-TW',
    theme: 'dark',
    width: 390,
  });
  await phone.page.getByText('每位訪客 20 條，突發 5 條').waitFor();
  await phone.page.getByText('未以 TCP 轉發').waitFor();
  await keepPicture(phone.page, 'layer4-limits-phone');

  await choose('Remove');
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByText('No connection limits yet').waitFor();
  expect(await list()).toEqual([]);
});

test('a subscribed list is added, and shows its counts, its age, and why it is not current', async () => {
  const { site, call, params, address } = await newSite();
  const { pool } = consoles.app.installation;
  const { page } = await consoles.openAs(site.owner, `${address}&tab=sources`);
  await page.getByText('No subscribed lists yet').waitFor();
  await page.getByRole('button', { name: 'Add subscribed list' }).first().click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Name').fill('Known attackers');
  await form.getByLabel('URL').fill('https://lists.example.net/attackers.txt');
  await form.getByLabel('Monitor only').check();
  await form.getByText('Allow list').click();
  await expect.poll(() => form.getByLabel('Monitor only').count()).toBe(0);
  await form.getByText('Block list').click();
  await keepPicture(page, 'list-source-form');
  await form.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByText('Not fetched yet').waitFor();
  const [added] = (await call(listSources.list, { params })).data;
  expect(added).toMatchObject({ isBlack: true, monitor: false, intervalMinutes: 60, enabled: true });

  const fetched = `UPDATE list_source_states SET checked_at = now(), fetched_at = '2026-11-29T08:00:00Z', entries = 51234,
    added = 120, removed = 98, rejected = 3 WHERE source_id = $1`;
  await pool.query(fetched, [added?.id]);
  await page.getByText('Up to date', { exact: true }).waitFor();
  await page.getByRole('cell', { name: '51,234' }).waitFor();
  await page.getByText('+120 −98').waitFor();
  await keepPicture(page, 'list-sources');
  const looks = { language: 'zh-TW', theme: 'dark', width: 390 } as const;
  const phone = await consoles.openAs(site.owner, `${address}&tab=sources`, looks);
  await phone.page.getByText('黑名單，51,234 筆').waitFor();
  await pool.query(`UPDATE list_source_states SET error = 'status', status = 404 WHERE source_id = $1`, [added?.id]);
  await Promise.all([page.reload(), phone.page.reload()]);
  await page.getByText('The server responded with status 404. The last copy stays in force.').waitFor();
  const why = phone.page.getByText('伺服器回應狀態碼 404。沿用上一次的名單。');
  await why.waitFor();
  expect(await why.evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)).toBe(false);
  await phone.page.getByText('更新失敗').waitFor();
  await keepPicture(phone.page, 'list-sources-phone');

  await page.getByRole('button', { name: /Actions/ }).click();
  await page.getByRole('menuitem', { name: 'Fetch now' }).click();
  await page.getByText('The lists are fetched within a minute').waitFor();
  const wide = await consoles.openAs(site.owner, `${address}&tab=sources`, { language: 'zh-CN', theme: 'dark' });
  await wide.page.getByText('更新失败').waitFor();
  await keepPicture(wide.page, 'list-sources-dark');
});

test('an operator subscribes a zone to a list', async () => {
  const zone = await consoles.app.build.zone();
  const address = `nodeManage/zonesList/${zone.id}?tab=sources`;
  const { page } = await consoles.openAs(zone.client, address);
  await page.getByText('No subscribed lists yet').waitFor();
  await page.getByRole('button', { name: 'Add subscribed list' }).first().click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Name').fill('Known attackers');
  await form.getByLabel('URL').fill('https://lists.example.net/attackers.txt');
  await form.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByText('Not fetched yet').waitFor();
  const { call } = consoles.app.as(zone.client);
  const params = { zoneId: zone.id };
  const [added] = (await call(zoneListSources.list, { params })).data;
  expect(added).toMatchObject({ name: 'Known attackers', isBlack: true, enabled: true });

  const { pool } = consoles.app.installation;
  const fetched = `UPDATE list_source_states SET checked_at = now(), fetched_at = now(), entries = 51234,
    error = 'tooManyEntries' WHERE source_id = $1`;
  await pool.query(fetched, [added?.id]);
  await page.getByText('All subscribed lists of the site or zone together exceed 100,000 entries').waitFor();
  await keepPicture(page, 'zone-list-sources');
  const phone = await consoles.openAs(zone.client, address, { language: 'zh-TW', theme: 'dark', width: 390 });
  await phone.page.getByText('此站點或區域的訂閱名單合計超過 100,000 筆').waitFor();
  await keepPicture(phone.page, 'zone-list-sources-phone');

  await page.getByRole('button', { name: /Actions/ }).click();
  await page.getByRole('menuitem', { name: 'Fetch now' }).click();
  await page.getByText('The lists are fetched within a minute').waitFor();
  await page.getByRole('button', { name: /Actions/ }).click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  await form.getByLabel('Name').fill('Attackers');
  await form.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('cell', { name: 'Attackers', exact: true }).waitFor();
});

test('CrowdSec is connected with a key, which is not shown again', async () => {
  const { site, call, params, address } = await newSite();
  const { page } = await consoles.openAs(site.owner, `${address}&tab=sources`);
  await page.getByRole('button', { name: 'Add subscribed list' }).first().click();
  const form = page.getByRole('dialog');
  await form.getByText('CrowdSec', { exact: true }).click();
  expect(await form.getByText('Allow list').count()).toBe(0);
  await form.getByLabel('Name').fill('Own CrowdSec');
  await form.getByLabel('API URL').fill('https://crowdsec.example.net:8080');
  const add = form.getByRole('button', { name: 'Add', exact: true });
  await add.click();
  await expect.poll(() => form.getByLabel('API key').getAttribute('aria-invalid')).toBe('true');
  await form.getByLabel('API key').fill('a-bouncer-key');
  await keepPicture(page, 'crowdsec-form');
  await add.click();
  await page.getByText('Not fetched yet').waitFor();
  expect((await call(listSources.list, { params })).data).toMatchObject([{ kind: 'crowdSec', hasKey: true }]);

  await page.getByRole('button', { name: /Actions/ }).click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  expect(await form.getByLabel('API key').inputValue()).toBe('');
  await form.getByLabel('Name').fill('CrowdSec at the office');
  await form.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('CrowdSec at the office').waitFor();
  const looks = { language: 'zh-TW', theme: 'dark', width: 390 } as const;
  const phone = await consoles.openAs(site.owner, `${address}&tab=sources`, looks);
  await phone.page.getByText('CrowdSec，0 筆').waitFor();
  await keepPicture(phone.page, 'crowdsec-phone');
});

test('firewall rules, redirects and scripts show how many requests they matched in 24 hours', async () => {
  const { site, call, params, address } = await newSite();
  const { build, installation } = consoles.app;
  const black = await call(blacklists.create, { params, body: { ips: ['203.0.113.0/24'], memo: 'scanners' } });
  await call(whitelists.create, { params, body: { ips: ['192.0.2.0/24'], memo: 'office' } });
  const agent = await call(userAgents.create, { params, body: { userAgentRegex: '^bad', monitor: true } });
  const region = await call(geos.create, { params, body: { geoIDs: ['country-JP'], isBlack: true } });
  const night = { name: 'Night', script: 'return deny()' };
  const [script] = (await call(luaAcls.create, { params, body: { modules: [night] } })).data;
  const module = await build.module(site, 'urlRedirect');
  const { ids } = await call(redirects.create, {
    params: { ...params, moduleId: module.id },
    body: { redirects: ['/old', '/unused'].map((source) => ({ type: 'exact' as const, source, target: '/new' })) },
  });
  const { id: nodeId } = await build.node({ zone: site.zone });
  const line = (cause: string, rule = '') => logLine(site.id, { cause, rule });
  await addLogs(installation.pool, nodeId, [
    line('blacklist', black.id),
    line('blacklist', black.id),
    line('userAgent', `monitor/${agent.id}`),
    line('geo', region.id),
    line('luaAcl', script?.id),
    ...[1, 2, 3].map(() => line('urlRedirect', ids[0])),
  ]);

  const { page } = await consoles.openAs(site.owner, address, { language: 'en' });
  const opened = async (view: string) => {
    await page.goto(`/user/${address.replace('firewall', view)}`);
  };
  const isCounted = async (row: string, matches: number) => {
    const cell = page.getByRole('row').filter({ hasText: row }).getByRole('cell', { name: 'Matches, 24 h' });
    await expect.poll(() => cell.innerText()).toMatch(new RegExp(`^${matches}\\b`));
  };
  await isCounted('scanners', 2);
  await keepPicture(page, 'firewall-matches');
  await opened('firewall&tab=agents');
  await isCounted('^bad', 1);
  await page.getByRole('row').filter({ hasText: '^bad' }).getByText('would block 1').waitFor();
  await keepPicture(page, 'firewall-would-block');
  await opened('firewall&tab=geo');
  await isCounted('Japan', 1);
  await opened('firewall&tab=white');
  await page.getByText('office').waitFor();
  expect(await page.getByText('Matches, 24 h').count()).toBe(0);
  await opened(`redirects&module=${module.id}`);
  await isCounted('/old', 3);
  await isCounted('/unused', 0);
  await keepPicture(page, 'redirects-matches');
  await opened('scripts');
  await expect.poll(() => page.getByText('Matches, 24 h').locator('xpath=..').innerText()).toMatch(/1$/);
  await keepPicture(page, 'scripts-matches');
});

test('rules of access, caching, bandwidth, limits and challenges show how many requests they matched in 24 hours', async () => {
  const { site, call, params, address } = await newSite();
  const { build, installation } = consoles.app;
  const conditions = [{ field: 'path', operator: 'startsWith' as const, value: '/admin' }];
  const rules = (['deny', 'allow'] as const).map((action) => ({ name: `To ${action}`, conditions, action }));
  const [staff] = (await call(acls.create, { params, body: { modules: [{ name: 'Staff', rules }] } })).data;
  const path = { type: 'prefix' as const, value: ['/a/'] };
  const [cached] = (await call(cacheRules.create, { params, body: { rules: [{ ...path, cacheTime: 60 }] } })).data;
  const [slowed] = (await call(rates.create, { params, body: { rates: [{ ...path, rate: 2048 }] } })).data;
  const windows = await call(frequencies.create, { params, body: { items: [{ seconds: 10, times: 100 }] } });
  const steady = await call(limitReqs.create, { params, body: { items: [{ rate: 100 }] } });
  const concurrent = await call(limitConns.create, { params, body: { items: [{ max: 100 }] } });
  const challenges = await call(antiCCs.create, { params, body: { items: [{}] } });
  /** Rules in lists that share a component, by page, each with a number of its own. */
  const counted = [
    ['cache', cached?.id ?? '', 2],
    ['rates', slowed?.id ?? '', 3],
    ['limits', windows.data[0]?.id ?? '', 4],
    ['limits', steady.data[0]?.id ?? '', 5],
    ['limits', concurrent.data[0]?.id ?? '', 6],
    ['challenges', challenges.data[0]?.id ?? '', 7],
  ] as const;
  const { id: nodeId } = await build.node({ zone: site.zone });
  const matched = counted.flatMap(([view, id, count]) =>
    Array.from({ length: count }, () => logLine(site.id, { trail: `|${view},rule,,${id}` })),
  );
  const refused = logLine(site.id, { cause: 'acl', rule: staff?.rules[0]?.id ?? '' });
  await addLogs(installation.pool, nodeId, [...matched, refused]);

  const { page } = await consoles.openAs(site.owner, address.replace('firewall', 'access'), { language: 'en' });
  const rule = (name: string) => page.getByRole('listitem').filter({ hasText: new RegExp(`^${name}`) });
  await expect.poll(() => rule('To deny').innerText()).toMatch(/Matches, 24 h:\s*1$/);
  // The log does not name rules that let requests through.
  expect(await rule('To allow').innerText()).not.toContain('Matches');
  for (const [view, id, count] of counted) {
    await page.goto(`/user/${address.replace('firewall', view)}`);
    const row = page.locator(`[data-rule="${id}"]`);
    await expect.poll(() => row.innerText()).toMatch(new RegExp(`\\b${count}\\s+Matches, 24 h`));
  }
});
