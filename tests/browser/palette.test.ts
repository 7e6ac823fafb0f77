// The command palette and keyboard shortcuts.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { groups } from '@edgeloom/contract/groups/groups.endpoints.ts';
import { proxyRewrites, urlRedirects } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { virtualNodes } from '@edgeloom/contract/virtual-nodes/virtual-nodes.endpoints.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { casesOfRun, isLongRun, longTest } from '../support/builders/long-run.ts';
import { accessibilityViolations } from '../support/assertions/accessibility.ts';
import type { BuiltSite } from '../support/builders/build.ts';
import { horizontalOverflow, type WindowOptions } from '../support/services/browser.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';

let consoles: Consoles;
let site: BuiltSite;
beforeAll(async () => {
  consoles = await startConsoles();
  const { build } = consoles.app;
  const zone = await build.zone({ name: 'Demo zone' });
  for (const name of ['Asia core', 'Asia edge']) await build.zone({ tenant: zone, name });
  await build.node({ zone, name: 'Demo node' });
  site = await build.site({ product: await build.product({ zone, name: 'Demo product' }), name: 'Demo site' });
  await build.domain({ site, name: 'demo.edgeloom.test' });
}, 400_000);
afterAll(() => consoles.stop());

const openAsClient = async (address: string, look?: WindowOptions) =>
  (await consoles.openAs(site.client, address, look)).page;

const palette = (page: Page) => page.getByRole('combobox', { name: 'Search or run' });
const option = (page: Page, name: RegExp) => page.getByRole('option', { name });
const active = (page: Page) => page.locator('[role="option"][aria-selected="true"]');

async function summon(page: Page) {
  await page.locator('main h1').waitFor();
  await page.keyboard.press('Control+k');
  await palette(page).waitFor();
  // Keys typed before the palette has focus go to the page.
  await page.locator('#palette-input:focus').waitFor();
}
/** English names of the objects that a menu's entries can create. */
function creatable(file: string): string[] {
  const source = path.join(import.meta.dirname, '../../apps/console/src');
  const table = readFileSync(path.join(source, 'consoles', file), 'utf8');
  return [...table.matchAll(/^ {8}creates: \{ call: [\w.]+, title: '([^']+)'/gm)].map(([, word = '']) => {
    const [feature = '', ...keys] = word.split('.');
    let found: unknown = JSON.parse(readFileSync(path.join(source, `locales/en/${feature}.json`), 'utf8'));
    for (const key of keys) found = typeof found === 'object' && found !== null ? Reflect.get(found, key) : undefined;
    return String(found);
  });
}
const faults = async (page: Page) => {
  return [...(await accessibilityViolations(page)), await horizontalOverflow(page)];
};

const widths = [
  ['1440 px', 1440],
  ['a phone', 390],
] as const;
describe.each(casesOfRun(widths, widths.length))('at %s', (_, width) => {
  test('objects are found, actions selected and pages opened by keyboard', { timeout: 300_000 }, async () => {
    const page = await openAsClient('dashboard', { width });
    await summon(page);
    expect(await faults(page)).toEqual([0]);
    await page.keyboard.type('demo');
    await option(page, /^demo\.edgeloom\.test/).waitFor();
    await option(page, /^Demo node/).waitFor();
    await expect.poll(() => active(page).textContent()).toContain('demo.edgeloom.test');
    const id = await active(page).getAttribute('id');
    await expect.poll(() => palette(page).getAttribute('aria-activedescendant')).toBe(id);
    expect(await faults(page)).toEqual([0]);
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => active(page).textContent()).toContain('Demo site');
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => active(page).textContent()).toContain('Simulate request');
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => active(page).textContent()).toContain('Domains');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/sitesSetting/*/*view=domains');
    // The palette lists recently opened entries first.
    await summon(page);
    await expect.poll(() => active(page).textContent()).toContain('Domains Demo site');
    await page.keyboard.press('Escape');
    await palette(page).waitFor({ state: 'detached' });
  });
});

test('Enter pressed before the results arrive opens the first result', async () => {
  const page = await openAsClient('dashboard');
  const asked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  await page.route(/\/search\?/, async (route) => {
    asked.resolve();
    await released.promise;
    await route.continue();
  });
  await summon(page);
  await page.keyboard.type('demo node');
  await page.keyboard.press('Enter');
  await asked.promise;
  released.resolve();
  await expect.poll(() => page.url()).toContain('/nodeManage/nodesList/');
});

test('commands run: switching the theme, opening a form', async () => {
  const page = await openAsClient('dashboard');
  await summon(page);
  await page.keyboard.type('>dark');
  await page.keyboard.press('Enter');
  await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
  await summon(page);
  await page.keyboard.type('> add zone');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/nodeManage/zonesList');
  await page.getByRole('dialog', { name: 'Add zone' }).getByLabel('Name', { exact: true }).waitFor();
  await expect.poll(() => page.getByRole('dialog').count()).toBe(1);
});

/** The first input of the opened drawer, wizard or inline editor. */
const inField = (page: Page) => page.locator(':is(input, textarea):focus:not(#palette-input)');

test(
  'create actions of pages are offered by their plain names, and focus the first field',
  { timeout: 600_000 },
  async () => {
    const page = await openAsClient('dashboard');
    // In the console, in the last site, and in a zone.
    await summon(page);
    await page.keyboard.type('Demo site');
    await expect.poll(() => active(page).textContent()).toContain('Demo site');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/sitesSetting/**');
    await page.locator('main h1').waitFor();
    // The first one asks for the zone, also in the short run.
    const plain = [
      'Add zone port',
      ...creatable('client/menu.ts'),
      ...creatable('site-views.ts'),
      'Add always-cached URL',
    ];
    expect(plain.length).toBeGreaterThan(20);
    const asking: string[] = [];
    for (const name of casesOfRun(plain, 24)) {
      await page.goto('/client/changePassword');
      await summon(page);
      await page.keyboard.insertText(name);
      await expect.poll(() => active(page).textContent(), { message: name }).toContain(name);
      await page.keyboard.press('Enter');
      const question = page.getByRole('dialog', { name: 'Which zone?' });
      await expect
        .poll(() => inField(page).or(question).count(), { message: name, timeout: 60_000 })
        .toBeGreaterThan(0);
      if (await question.isVisible()) {
        asking.push(name);
        await question.getByRole('button', { name: 'Next' }).click();
        await question.waitFor({ state: 'detached' });
        await inField(page).waitFor();
      }
    }
    expect(asking).toContain('Add zone port');
  },
);

/** The first action with each question, and the first without one. */
function oneOfEachQuestion<T extends readonly [string, readonly string[], ...unknown[]]>(creations: readonly T[]): T[] {
  const found = new Set<string>();
  return creations.filter(([, questions]) => {
    const asked = questions.length > 0 ? questions : ['no question'];
    const hasNew = asked.some((question) => !found.has(question));
    for (const question of asked) found.add(question);
    return hasNew;
  });
}

test('what is created inside an object asks for the object, and opens its form', { timeout: 600_000 }, async () => {
  const { params } = site;
  const [client, user] = [consoles.app.as(site.client).call, consoles.app.as(site.owner).call];
  // The first zone by name is preselected.
  const zoneId = (await client(zones.meta, {})).data[0]?.id ?? '';
  await client(virtualNodes.create, { params: { zoneId }, body: { name: 'elsewhere', ips: ['198.51.100.7'] } });
  await client(groups.create, { params: { zoneId }, body: { name: 'everyone' } });
  await user(urlRedirects.create, { params, body: { modules: [{ name: 'moved' }] } });
  await user(proxyRewrites.create, { params, body: { modules: [{ name: 'paths', rules: [] }] } });
  const page = await openAsClient('dashboard');
  const dialog = (name: string) => page.getByRole('dialog', { name });
  const unsaved = page.locator('main [data-save]').first();
  const creations = [
    ['Add origin', ['Which site?', 'Which domain?'], unsaved],
    ['Add referrer rule', ['Which site?', 'Which domain?'], unsaved],
    ['Add redirect', ['Which site?', 'Which module?'], dialog('Add redirect')],
    ['Add rewrite rule', ['Which site?', 'Which module?'], dialog('paths').getByText('Condition').first()],
    ['Add virtual node record', ['Which zone?', 'Which virtual node?'], page.locator('[data-creates]:focus')],
    ['Add to a line', ['Which node?'], dialog('Add to a line')],
    ['Add sub-nodes', ['Which node?'], dialog('Add sub-nodes')],
    ['Add line', ['Which zone?'], page.getByRole('listbox')],
    ['Add sub-account', [], dialog('Add sub-account')],
  ] as const;
  for (const [name, asked, opened] of isLongRun ? creations : oneOfEachQuestion(creations)) {
    // Another tab has no last site.
    await page.evaluate(() =>
      Object.keys(sessionStorage)
        .filter((key) => /_last/.test(key))
        .forEach((key) => sessionStorage.removeItem(key)),
    );
    await page.goto('/client/changePassword');
    await summon(page);
    await page.keyboard.insertText(name);
    await expect.poll(() => active(page).textContent(), { message: name }).toContain(name);
    await page.keyboard.press('Enter');
    for (const question of asked) {
      await dialog(question).getByRole('button', { name: 'Next' }).click();
      await dialog(question).waitFor({ state: 'detached' });
    }
    await opened.waitFor();
  }
});

test('tabs, sections and verbs are found by their plain names from any page', { timeout: 300_000 }, async () => {
  const page = await openAsClient('changePassword');
  const places = [
    ['purge', 'Purge', 'Which site?', /view=cache&tab=purge/],
    ['roll back', 'Roll back site', 'Which site?', /view=versions/],
    ['firewall', 'Firewall', 'Which site?', /view=firewall/],
    ['kill switches', 'Kill switches', 'Which zone?', /zonesList\/[^/]+\?tab=switches/],
    ['log rotation', 'Log rotation', 'Which node?', /nodesList\/[^/]+\?tab=logs/],
    ['passkeys', 'Passkeys', null, /security\?tab=passkeys/],
  ] as const;
  for (const [typed, title, question, address] of casesOfRun(places, 3)) {
    await page.evaluate(() => sessionStorage.clear());
    await page.goto('/client/changePassword');
    await summon(page);
    await page.keyboard.insertText(typed);
    await option(page, new RegExp(`^${title}`))
      .first()
      .click();
    if (question !== null)
      await page.getByRole('dialog', { name: question }).getByRole('button', { name: 'Next' }).click();
    await expect.poll(() => page.url(), { message: typed }).toMatch(address);
  }
});

// Every word of each language is in read-input.test.ts, creations.test.ts and places.test.ts.
test('synonyms and another word order match, and an exact name comes first', async () => {
  const page = await openAsClient('dashboard');
  const typings = [
    ['new zone', 'Add zone'],
    ['create zone', 'Add zone'],
    ['zone add', 'Add zone'],
    ['add node', 'Install node'],
    ['zones', 'Zones'],
    ['demo zone', 'Demo zone'],
    ['asia', 'Asia core'],
    ['new cache rule', 'Add cache rule'],
  ] as const;
  for (const [typed, first] of casesOfRun(typings, 2)) {
    await summon(page);
    await page.keyboard.insertText(typed);
    await expect.poll(() => active(page).textContent(), { message: typed }).toContain(first);
    await page.keyboard.press('Escape');
    await palette(page).waitFor({ state: 'detached' });
  }
});

longTest('synonyms match in the language of the console, also after a change of it', async () => {
  const page = await openAsClient('dashboard');
  await page.getByRole('button', { name: /^Language/ }).click();
  await page.getByRole('menuitemradio', { name: '繁體中文' }).click();
  const chinese = page.getByRole('combobox', { name: '搜尋或執行' });
  for (const typed of ['新增網域', '建立網域']) {
    await page.keyboard.press('Control+k');
    await page.locator('#palette-input:focus').waitFor();
    await page.keyboard.insertText(typed);
    await expect.poll(() => active(page).textContent()).toContain('新增網域');
    await page.keyboard.press('Escape');
    await chinese.waitFor({ state: 'detached' });
  }
  // Without a last site in this tab, the palette asks for one.
  await page.keyboard.press('Control+k');
  await page.locator('#palette-input:focus').waitFor();
  await page.keyboard.insertText('新增網域');
  await expect.poll(() => active(page).textContent()).toContain('新增網域');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: '哪個站點？' }).getByRole('button', { name: '下一步' }).click();
  await page.waitForURL(/view=domains&tab=new/);
  await inField(page).waitFor();
});

test('nodes and tags have prefixes, and a prefix alone sends no request', async () => {
  const page = await openAsClient('dashboard');
  const asked: string[] = [];
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url());
    if (pathname.endsWith('/search')) asked.push(search);
  });
  await summon(page);
  // Types fast, without waiting for the page.
  await Promise.all([...'@demo'].map((key) => page.keyboard.type(key)));
  await option(page, /^Demo node/).waitFor();
  await expect.poll(() => page.getByRole('option', { name: /^Demo zone/ }).count()).toBe(0);
  // One request after typing stops, not one per key.
  expect(asked.at(-1)).toBe('?text=demo&only=nodes');
  expect(asked.length).toBeLessThan(4);
});

test('IME composition is neither searched nor submitted by Enter', async () => {
  const page = await openAsClient('dashboard');
  const asked: string[] = [];
  page.on('request', (request) => {
    if (new URL(request.url()).pathname.endsWith('/search')) asked.push(request.url());
  });
  await summon(page);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Input.imeSetComposition', { text: 'ㄓㄢ', selectionStart: 2, selectionEnd: 2 });
  await devtools.send('Input.dispatchKeyEvent', { type: 'keyDown', key: 'Process', windowsVirtualKeyCode: 229 });
  await expect.poll(() => palette(page).inputValue()).toBe('ㄓㄢ');
  expect(asked).toEqual([]);
  await devtools.send('Input.insertText', { text: 'demo' });
  await option(page, /^Demo node/).waitFor();
  expect(asked).toHaveLength(1);
});

describe('shortcuts', () => {
  test('open pages, lists and rows', { timeout: 240_000 }, async () => {
    const page = await openAsClient('dashboard');
    await page.locator('main h1').waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.waitForURL('**/nodeManage/sitesList');
    await page.goto('/client/nodeManage/zonesList');
    await page.getByRole('link', { name: 'Asia core' }).waitFor();

    await page.keyboard.press('/');
    await page.locator('input:focus').waitFor();
    await page.keyboard.type('j');
    await expect.poll(() => page.getByRole('searchbox').inputValue()).toBe('j');
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Asia core' }).waitFor();

    const focused = page.locator('tr:focus');
    await page.keyboard.press('j');
    const first = await focused.textContent();
    await page.keyboard.press('j');
    await expect.poll(() => focused.textContent()).not.toBe(first);
    await page.keyboard.press('k');
    await expect.poll(() => focused.textContent()).toBe(first);
    await page.keyboard.press('x');
    await page.getByText('1 selected').waitFor();
    await page.keyboard.press('a');
    const selected = page.locator('tr[data-selected]');
    await expect.poll(() => selected.count()).toBe(await page.locator('tbody tr[tabindex]').count());
    await page.keyboard.press('Escape');
    await expect.poll(() => selected.count()).toBe(0);
    await page.keyboard.press('j');
    await page.keyboard.press('e');
    await page.getByRole('dialog', { name: 'Edit zone' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('c');
    await page.getByRole('dialog', { name: 'Add zone' }).waitFor();
    await expect.poll(() => page.getByRole('dialog').count()).toBe(1);
  });

  test('are listed by a question mark', { timeout: 240_000 }, async () => {
    const { page } = await consoles.openAs(site.owner, 'dashboard');
    await page.locator('main h1').waitFor();
    await page.keyboard.press('?');
    const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await list.getByText('Sites').waitFor();
    await expect.poll(() => list.getByText('Nodes').count()).toBe(0);
    expect(await faults(page)).toEqual([0]);
  });

  test('do nothing when disabled, but the palette still opens', async () => {
    const page = await openAsClient('nodeManage/zonesList');
    await page.getByRole('link', { name: 'Asia core' }).waitFor();
    await page.getByRole('button', { name: /Account/ }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Single-letter keys' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'detached' });
    for (const key of ['c', '?', '/']) await page.keyboard.press(key);
    await summon(page);
    await expect.poll(() => page.getByRole('dialog').count()).toBe(1);
  });
});
