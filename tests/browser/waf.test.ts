// A customer sets up the firewall, and adds exceptions for requests of the log.
import { randomBytes } from 'node:crypto';
import { domainModules } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { wafs } from '@edgeloom/contract/waf/waf.endpoints.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessibilityViolations } from '../support/assertions/accessibility.ts';
import { delayFirstPages, searchInSmallSteps, searchToEnd } from '../support/assertions/long-search.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';
import { addLogs, logLine } from '../support/builders/traffic.ts';
import { horizontalOverflow } from '../support/services/browser.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';

let consoles: Consoles;
beforeAll(async () => {
  consoles = await startConsoles();
}, 400_000);
afterAll(() => consoles.stop());

test('a firewall is set up with an exception that ends', async () => {
  const site = await consoles.app.build.site({ name: 'Shop' });
  const at = `sitesManagement/sitesSetting/${site.id}/Shop?view=waf`;
  const { page } = await consoles.openAs(site.owner, at, { language: 'en' });
  await page.getByRole('button', { name: 'Add firewall' }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Name', { exact: true }).fill('Main');
  await form.getByText('Refuse attacks').click();
  await form.getByRole('radiogroup', { name: 'Sensitivity' }).getByText('2').click();
  await form.getByRole('button', { name: 'Add exception' }).click();
  await form.getByLabel('Path begins with').fill('/editor');
  await form.getByLabel('Host name').fill('www.example.com');
  await form.getByLabel('Ends', { exact: true }).fill('2999-01-01T10:00');
  await form.getByLabel('Note').fill('The editor sends HTML');
  await keepPicture(page, 'waf-form');
  await form.getByRole('button', { name: 'Add firewall' }).click();
  await form.waitFor({ state: 'detached' });
  await page.getByText('Sensitivity 2').waitFor();
  await keepPicture(page, 'waf-page');
  await expect.poll(() => horizontalOverflow(page)).toBe(0);
  const { call } = consoles.app.as(site.owner);
  expect((await call(wafs.list, { params: site.params, query: {} })).data).toMatchObject([
    {
      mode: 'block',
      paranoia: 2,
      exceptions: [
        {
          rule: null,
          path: '/editor',
          parameter: null,
          host: 'www.example.com',
          until: expect.stringMatching(/^2999-01-01T/),
          note: 'The editor sends HTML',
        },
      ],
    },
  ]);
});

test('an exception whose end is incomplete is not saved, and an empty end is none', async () => {
  const site = await consoles.app.build.site({ name: 'Shop' });
  const { id, name } = await consoles.app.build.module(site, 'waf');
  const { call } = consoles.app.as(site.owner);
  const until = '2999-01-01T10:00:00Z';
  const body = { modules: [{ id, name, exceptions: [{ rule: 'sqli', until }] }] };
  await call(wafs.update, { params: site.params, body });
  const ends = async () =>
    (await call(wafs.list, { params: site.params, query: {} })).data[0]?.exceptions.map((one) => one.until);
  const at = `sitesManagement/sitesSetting/${site.id}/Shop?view=waf`;
  const { page } = await consoles.openAs(site.owner, at, { language: 'en' });
  await page.getByRole('button', { name: `Edit ${name}` }).click();
  const form = page.getByRole('dialog');
  const end = form.getByLabel('Ends', { exact: true });
  const save = form.getByRole('button', { name: 'Save' });
  await end.focus();
  await page.keyboard.press('Backspace');
  await save.click();
  await form.getByText('The date or time is incomplete').waitFor();
  await keepPicture(page, 'waf-form-incomplete-end');
  expect(await ends()).toEqual([until]);
  await end.focus();
  for (let part = 0; part < 5; part++) {
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Backspace');
  }
  await save.click();
  await form.waitFor({ state: 'detached' });
  expect(await ends()).toEqual([null]);

  await page.getByRole('button', { name: `Edit ${name}` }).click();
  await end.focus();
  await page.keyboard.type('01');
  await page.keyboard.press('Enter');
  await form.getByText('Required').waitFor();
  await save.click();
  await form.getByText('The date or time is incomplete').waitFor();
  expect(await ends()).toEqual([null]);
});

test('rules are searched, and one is switched off for a firewall', async () => {
  const { build, installation } = consoles.app;
  const site = await build.site();
  const { id, name } = await build.module(site, 'waf');
  const { call } = consoles.app.as(site.owner);
  const node = await build.node({ zone: site.zone });
  await addLogs(installation.pool, node.id, [
    logLine(site.id, { status: 403, cause: 'waf', rule: 'template-jndi' }),
    logLine(site.id, { cause: 'waf', rule: 'monitor/template-jndi' }),
  ]);
  const exceptions = ['template-jndi', 'template', null].map((rule) => ({ rule, path: '/editor' }));
  await call(wafs.update, { params: site.params, body: { modules: [{ id, name, exceptions }] } });
  const { page } = await consoles.openAs(site.owner, `sitesManagement/sitesSetting/${site.id}/Shop?view=waf`, {
    language: 'en',
  });
  await page.getByRole('link', { name: 'Rules', exact: true }).click();
  await page.getByRole('heading', { name: `Rules of ${name}` }).waitFor();
  await keepPicture(page, 'waf-rules');
  await page.getByRole('searchbox').fill('CVE-2021-44228');
  const rows = page.getByRole('row').filter({ hasText: 'template-jndi' });
  await rows.getByText('Templates and expressions').waitFor();
  const figures = async () => (await rows.getByRole('cell').allTextContents()).map((text) => text.split(' ', 1)[0]);
  // Three exceptions, two matches.
  await expect.poll(figures).toEqual(expect.arrayContaining(['3', '2']));
  await page.getByRole('switch').click({ force: true });
  await expect.poll(() => page.getByRole('switch').isChecked()).toBe(false);
  await keepPicture(page, 'waf-rule-off');
  expect(await accessibilityViolations(page)).toEqual([]);
  expect((await call(wafs.list, { params: site.params, query: {} })).data).toMatchObject([
    { disabledRules: ['template-jndi'], exceptions },
  ]);
  const phone = await consoles.openAs(
    site.owner,
    `sitesManagement/sitesSetting/${site.id}/Shop?view=waf&firewall=${id}&category=sqli`,
    { width: 390, theme: 'dark', language: 'zh-TW' },
  );
  await phone.page.getByText('SQL 注入').first().waitFor();
  await expect.poll(() => horizontalOverflow(phone.page)).toBeLessThanOrEqual(0);
  await keepPicture(phone.page, 'waf-rules-390-dark-zh-TW');
});

const explanation = {
  score: 5.5,
  points: 9,
  rules: [
    { id: 'sqli-union-select', points: 5, from: 10, to: 22 },
    { id: 'sqli-select-from', points: 4, from: 16, to: 44 },
  ],
  place: 'query',
  name: '<b>id</b>',
  steps: ['url', 'comments'],
  excerpt: '<i>1</i>\' union select "\\xE4" from users<script>alert(1)</script>',
  tokens: [{ text: 'union select', weight: 1.5 }],
};

test('a request shows what the firewall found in it, with the match marked and hostile text as text', async () => {
  const { build, installation } = consoles.app;
  const site = await build.site();
  const node = await build.node({ zone: site.zone });
  const finding = { status: 403, cause: 'waf', rule: 'sqli-union-select' };
  const [shown, hidden] = ['a'.repeat(32), 'b'.repeat(32)];
  await addLogs(installation.pool, node.id, [
    logLine(site.id, { ...finding, id: shown, uri: '/shown', waf: JSON.stringify(explanation) }),
    logLine(site.id, { ...finding, id: hidden, uri: '/hidden', waf: '{"points":5,"rules":[],"place":"query"}' }),
  ]);
  const { page } = await consoles.openAs(site.owner, `dataAnalysis/logger?request=${shown}`);
  const found = page.getByRole('region', { name: 'What the firewall found' });
  await found.getByText('Query string · <b>id</b>').waitFor();
  expect(await found.locator('mark').textContent()).toBe('union select');
  await found.getByText('<script>alert(1)</script>').waitFor();
  await found.getByText('URL encoding → SQL comments').waitFor();
  await found.getByText('UNION query').waitFor();
  await found.scrollIntoViewIfNeeded();
  await keepPicture(page, 'waf-explanation');
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.goto(page.url().replace(shown, hidden));
  await found.getByText("this site's log leaves out query strings").waitFor();
});

test('a request of the log becomes an exception of the firewall in one click, and the click is undone', async () => {
  const { build, installation } = consoles.app;
  const site = await build.site();
  const domain = await build.domain({ site });
  const { id, name } = await build.module(site, 'waf');
  const { call } = consoles.app.as(site.owner);
  await call(domainModules.assign, {
    params: { ...site.params, kind: 'waf' },
    body: { domainIDs: [domain.id], moduleID: id },
  });
  const node = await build.node({ zone: site.zone });
  const reqID = randomBytes(16).toString('hex');
  await addLogs(installation.pool, node.id, [
    logLine(site.id, {
      id: reqID,
      domain: domain.id,
      host: domain.name,
      uri: '/search',
      status: 403,
      cause: 'waf',
      rule: 'sqli-union-select',
      waf: JSON.stringify({ ...explanation, name: 'q' }),
    }),
  ]);
  const { page } = await consoles.openAs(site.owner, `dataAnalysis/logger?request=${reqID}`);
  await page.getByRole('button', { name: 'Add exception' }).click();
  await page.getByText(`Exception added to “${name}”: SQL injection · q · ${domain.name}/search`).waitFor();
  await keepPicture(page, 'waf-exception-added');
  const exceptions = async () => (await call(wafs.list, { params: site.params, query: {} })).data[0]?.exceptions;
  expect(await exceptions()).toMatchObject([{ rule: 'sqli', path: '/search', parameter: 'q', host: domain.name }]);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Undone').waitFor();
  expect(await exceptions()).toEqual([]);

  const ending = { rule: 'sqli', path: '/search', parameter: 'q', host: domain.name, until: '2999-01-01T10:00:00Z' };
  await call(wafs.update, { params: site.params, body: { modules: [{ id, name, exceptions: [ending] }] } });
  await page.getByRole('button', { name: 'Add exception' }).click();
  await page.getByText(`“${name}” already has this exception until 2999/01/01`).waitFor();
});

test('the log of the firewall lists findings by rule, and opens one among the requests', async () => {
  const { build, installation } = consoles.app;
  const site = await build.site();
  const node = await build.node({ zone: site.zone });
  await addLogs(installation.pool, node.id, [
    logLine(site.id, { uri: '/ordinary' }),
    logLine(site.id, {
      status: 403,
      cause: 'waf',
      rule: 'sqli-union-select',
      uri: '/list',
      waf: JSON.stringify(explanation),
    }),
    logLine(site.id, { cause: 'waf', rule: 'monitor/files-dump', uri: '/backup.sql' }),
  ]);
  const { page } = await consoles.openAs(site.owner, 'dataAnalysis/logger?tab=waf&last=6h');
  const rows = page.getByRole('table').locator('tbody tr');
  await expect.poll(() => rows.count()).toBe(2);
  await rows.filter({ hasText: 'UNION query' }).filter({ hasText: 'Refused' }).waitFor();
  await rows.filter({ hasText: 'Only logged' }).filter({ hasText: '/backup.sql' }).waitFor();
  await keepPicture(page, 'waf-log');
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.getByLabel('Category').first().click();
  await page.getByRole('option', { name: 'SQL injection', exact: true }).click();
  await expect.poll(() => rows.count()).toBe(1);
  await rows.getByRole('link').click();
  await page.getByRole('region', { name: 'What the firewall found' }).waitFor();
  await page.getByText('/backup.sql').waitFor();
  expect(new URL(page.url()).searchParams.get('last')).toBe('6h');
});

test('the log of the firewall shows how far a long search got, continues it, and is reloaded during it', async () => {
  const { build, installation } = consoles.app;
  searchInSmallSteps(consoles.app);
  const site = await build.site();
  const node = await build.node({ zone: site.zone });
  const line = (uri: string, secondsAgo: number) =>
    logLine(site.id, { cause: 'waf', rule: 'monitor/files-dump', uri, time: Date.now() / 1000 - secondsAgo });
  await addLogs(installation.pool, node.id, [line('/first', 90)]);
  const { page } = await consoles.openAs(site.owner, 'dataAnalysis/logger?tab=waf&last=15m');
  const rows = page.getByRole('table').locator('tbody tr');
  await rows.filter({ hasText: '/first' }).waitFor();
  await page.getByText(/^Searched back to/).waitFor();
  await keepPicture(page, 'waf-log-long-search');
  await addLogs(installation.pool, node.id, [line('/second', 0)]);
  await delayFirstPages(page);
  await page.getByRole('button', { name: 'Refresh' }).click();
  await rows.filter({ hasText: '/second' }).waitFor();
  await searchToEnd(page, '2 findings, no older ones in this period');
  expect(await rows.count()).toBe(2);
}, 240_000);

/** The match is `union 你`. */
const utf8Rules = [{ id: 'sqli-union-select', points: 5, from: 2, to: 20 }];

test('requests show the name of the WAF rule in their list and in their decisions', async () => {
  const { build, installation } = consoles.app;
  const site = await build.site();
  const node = await build.node({ zone: site.zone });
  const [id, monitored] = [randomBytes(16).toString('hex'), randomBytes(16).toString('hex')];
  await addLogs(installation.pool, node.id, [
    logLine(site.id, {
      id,
      status: 403,
      cause: 'waf',
      rule: 'sqli-union-select',
      trail: '12.4|waf,403,12.4,sqli-union-select',
      waf: JSON.stringify({ ...explanation, rules: utf8Rules, excerpt: String.raw`1 union \xE4\xBD\xA0 select` }),
    }),
    logLine(site.id, { id: monitored, cause: 'waf', rule: 'monitor/files-dump' }),
  ]);
  const at = `dataAnalysis/logger?request=${id}`;
  const { page } = await consoles.openAs(site.owner, at);
  const decisions = page.getByRole('region', { name: 'Decisions' });
  await decisions.getByText('UNION query').waitFor();
  expect(await decisions.getByText('sqli-union-select').count()).toBe(0);
  await page.locator(`tr[data-row="${id}"]`).getByText('WAF · UNION query').waitFor();
  await page
    .locator(`tr[data-row="${monitored}"]`)
    .getByText(/^WAF · /)
    .waitFor();
  await keepPicture(page, 'waf-rule-names-1440');
  const phone = await consoles.openAs(site.owner, 'dataAnalysis/logger', {
    width: 390,
    theme: 'dark',
    language: 'zh-TW',
  });
  await phone.page
    .locator(`[data-row="${id}"]`)
    .getByText(/^WAF · /)
    .waitFor();
  await expect.poll(() => horizontalOverflow(phone.page)).toBeLessThanOrEqual(0);
  await keepPicture(phone.page, 'waf-rule-names-390-dark-zh-TW');
  await phone.page.locator(`[data-row="${id}"]`).getByRole('link').click();
  await phone.page.getByRole('dialog').locator('[data-decision="refused"]').first().waitFor();
  await keepPicture(phone.page, 'waf-request-390-dark-zh-TW');
  await phone.page.goto('/user/dataAnalysis/logger?tab=waf');
  const lines = phone.page.getByRole('list', { name: '防火牆的發現' }).getByRole('listitem');
  await expect.poll(() => lines.count()).toBe(2);
  expect(await phone.page.getByRole('table').count()).toBe(0);
  const refused = lines.filter({ hasText: '已拒絕' });
  expect(await refused.locator('mark').textContent()).toBe('union 你');
  await expect.poll(() => horizontalOverflow(phone.page)).toBeLessThanOrEqual(0);
  await keepPicture(phone.page, 'waf-log-390-dark-zh-TW');
  expect(await accessibilityViolations(phone.page)).toEqual([]);
  await refused.getByRole('link').click();
  await phone.page.getByRole('dialog').locator('[data-decision="refused"]').first().waitFor();
});
