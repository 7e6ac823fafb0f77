// Every text that a screen can show comes from a tenant, node or visitor. This test writes an attack into each of them,
// directly to the database, and opens every screen of the admin console and every sixteenth of the others. The long run
// also writes by API, and opens every screen, and every item of a row's menu.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import type { Locator, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { groups } from '@edgeloom/contract/all.ts';
import type { Family } from '@edgeloom/contract/family.ts';
import { mounted, paramNames } from '@edgeloom/contract/endpoint.ts';
import { permissions } from '@edgeloom/contract/permissions.ts';
import type { SignedInAccount } from '../support/builders/api-clients.ts';
import { horizontalOverflow } from '../support/services/browser.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';
import { casesOfRun, isLongRun } from '../support/builders/long-run.ts';
import { sample } from '../support/builders/sample-input.ts';
import { textAt, objectKindAt, world, type World } from '../support/builders/world.ts';

/** One script per context: URL, attribute, element, template. */
const attack = (place: string) =>
  `javascript:pwned()//"'\`><img src=x onerror=pwned()><svg onload=pwned()></style><script>pwned()</script>{{pwned()}} «${place}»`;
const marked = /«([\w.]+)»/g;

let consoles: Consoles;
let own: World;
let admin: SignedInAccount;
let domainName: string;

beforeAll(async () => {
  consoles = await startConsoles();
  const { build, installation } = consoles.app;
  own = await world(build, installation);
  const tags = { data: { tags: ['prod'] } };
  await installation.db.site.update({ where: { id: own.ids.site }, ...tags });
  await installation.db.domain.update({ where: { id: own.ids.domain }, ...tags });
  admin = await build.admin();
  // The database gets an attack in each text anyway. The calls add more rows.
  if (isLongRun) await writeByApi();
  domainName = await writeByDatabase();
}, 400_000);
afterAll(() => consoles.stop());

const accountOf = (kind: Family) => (kind === 'client' ? own.client : kind === 'user' ? own.user : admin);

/** Calls every write endpoint with an attack in each free text of its body. */
async function writeByApi() {
  const faults: string[] = [];
  const writes = mounted(groups).filter(
    ({ method, endpoint }) => /POST|PUT|PATCH/.test(method) && endpoint.can !== 'anyone',
  );
  for (const { endpoint, family, method, path: address } of writes) {
    const kinds = family === null ? (['user', 'client', 'admin'] as const) : [family];
    const special = (at: readonly string[]) => {
      const thing = objectKindAt(endpoint, at);
      if (thing === null) return textAt(endpoint, at);
      return /s$/i.test(at.at(-1) ?? '') ? [own.ids[thing]] : own.ids[thing];
    };
    const body = endpoint.body && withAttacks(sample(endpoint.body, special), `${endpoint.feature}.${endpoint.name}`);
    const params = new Map(
      paramNames(address).map((name) => [name, own.ids[objectKindAt(endpoint, [name]) ?? 'site']]),
    );
    for (const kind of kinds) {
      const base = kind === 'admin' ? consoles.app.adminUrl : consoles.app.url;
      const answer = await fetch(
        `${base}/api/v1/${address.replace(/:(\w+)/g, (_, name: string) => params.get(name) ?? '')}`,
        {
          method,
          headers: {
            authorization: `Bearer ${accountOf(kind).token}`,
            ...(body !== undefined && { 'content-type': 'application/json' }),
          },
          body: body === undefined ? null : JSON.stringify(body),
        },
      );
      const text = await answer.text();
      if (answer.status === 500) faults.push(`${method} ${address}: ${text}`);
    }
  }
  expect(faults).toEqual([]);
}

/** Replaces texts that the sample fills with "text". */
function withAttacks(value: unknown, place: string): unknown {
  if (value === 'text') return attack(place).slice(0, 250);
  if (Array.isArray(value)) return value.map((part) => withAttacks(part, place));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, withAttacks(part, place)]));
}

/** Values with a fixed format, such as enums and permissions. */
function wordsOf(schema: z.core.$ZodType, seen = new Set<unknown>()): string[] {
  if (seen.has(schema)) return [];
  seen.add(schema);
  const inside = (parts: readonly z.core.$ZodType[]) => parts.flatMap((part) => wordsOf(part, seen));
  if (schema instanceof z.ZodEnum) return schema.options.map(String);
  if (schema instanceof z.ZodLiteral) return [...schema.values].map(String);
  if (schema instanceof z.ZodObject) return inside(Object.values(schema.shape));
  if (schema instanceof z.ZodArray) return inside([schema.element]);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable)
    return inside([schema.unwrap()]);
  if (schema instanceof z.ZodUnion) return inside(schema.options);
  if (schema instanceof z.ZodPipe) return inside([schema.in, schema.out]);
  return schema instanceof z.ZodRecord ? inside([schema.valueType]) : [];
}
const schemas = groups
  .flatMap((group) => Object.values(group))
  .flatMap(({ body, query, reply }) => [body, query, reply].flatMap((schema) => schema ?? []));
const words = new Set([...schemas.flatMap((schema) => wordsOf(schema)), ...permissions]);
const isForPrograms = (text: string) =>
  words.has(text) ||
  /^[0-9a-f-]{36}$|^[0-9a-f]{32,}$|^\d{4}-\d\d-\d\dT|^\S+@\S+$|^[0-9a-f.:]+\/\d+$|^\d\d:\d\d$/.test(text);
/** Hashes, keys and sealed values are never shown, and the product could not run with other values. */
const secret = /hash|sealed|secret|key|token|pem|digest|successor|password|challenge|credential|migration/i;

const Columns = z.array(z.object({ table: z.string(), column: z.string(), type: z.string() }));

/** Overwrites each text column as a superuser without triggers and rules. */
async function writeByDatabase(): Promise<string> {
  const client = new pg.Client({ connectionString: consoles.app.installation.env.DATABASE_URL });
  await client.connect();
  try {
    await client.query('SET session_replication_role = replica');
    const columns = await client.query(
      `SELECT c.table_name AS table, c.column_name AS column, c.udt_name AS type
         FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
        WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE' AND c.is_generated = 'NEVER'
          AND c.udt_name IN ('text', 'varchar', '_text', 'jsonb', 'json')`,
    );
    const shown = Columns.parse(columns.rows).filter(
      ({ table, column }) => !secret.test(column) && !secret.test(table),
    );
    for (const [table, of] of Map.groupBy(shown, (one) => one.table)) {
      const names = of.map(({ column }) => `"${column}"`).join(', ');
      const rows = await client.query<Record<string, unknown>>(`SELECT ctid::text AS row, ${names} FROM "${table}"`);
      for (const [n, row] of rows.rows.entries()) {
        const values = of.map(({ column, type }) => {
          const value = attacked(row[column], `${table}.${column}`, n);
          return type.startsWith('json') ? JSON.stringify(value) : value;
        });
        const set = of.map(({ column }, i) => `"${column}" = $${i + 2}`).join(', ');
        await client.query(`UPDATE "${table}" SET ${set} WHERE ctid = $1::tid`, [row['row'], ...values]);
      }
    }
    // Brandings are selected by host name, so the attack needs this host.
    await client.query(`UPDATE brandings SET host = 'localhost' WHERE id = $1`, [own.ids.branding]);
    const { rows } = await client.query<{ name: string }>('SELECT name FROM domains WHERE id = $1', [own.ids.domain]);
    return rows[0]?.name ?? '';
  } finally {
    await client.end();
  }
}

function attacked(value: unknown, place: string, n: number): unknown {
  if (typeof value === 'string') return isForPrograms(value) ? value : `${attack(place)}${n}`;
  if (Array.isArray(value)) return value.map((part, i) => attacked(part, place, n * 100 + i));
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  // Anti-CC paths and file types, and a proxy's header and networks have a strict format. With other values the zone
  // could not be read.
  const asItIs = (name: string) => name === 'antiCC' || name === 'visitorAddress';
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, asItIs(name) ? part : attacked(part, place, n)]),
  );
}

const sources = path.join(import.meta.dirname, '../../apps/console/src/consoles');
const inSource = async (file: string, pattern: RegExp) =>
  [...(await readFile(path.join(sources, file), 'utf8')).matchAll(pattern)].map(([, found = '']) => found);

/** Every URL of a console, from its route table. */
async function addresses(kind: Family): Promise<string[]> {
  const paths = [
    ...(await inSource(`${kind}/routes.tsx`, /path: '([^']+)'/g)),
    ...(await inSource('routes.tsx', /path: '([^'*/][^'*]*)',?\s+(?:lazy|Component)/g)),
  ];
  const views = await inSource('site-views.ts', /view: '(\w+)'/g);
  const known: Readonly<Record<string, string>> = {
    siteId: own.ids.site,
    zoneId: own.ids.zone,
    nodeID: own.ids.node,
    jobID: own.ids.nodeJob,
    rolloutID: own.ids.rollout,
    // An account that this account manages.
    id: { admin: own.client.id, client: own.ids.user, user: own.ids.subUser }[kind],
    name: 'x',
    domainName: encodeURIComponent(domainName),
  };
  // A new route parameter must be added to this test.
  const unknown = paths.flatMap((one) => paramNames(one)).filter((name) => !(name in known));
  expect(unknown).toEqual([]);
  const filled = paths.map((one) => one.replace(/:(\w+)\??/g, (_, name: string) => known[name] ?? ''));
  const site = filled.find((one) => one.includes('sitesSetting'));
  const scope = site?.split('/').slice(0, -1).join('/');
  return [...new Set([...filled, ...(scope ? views.map((view) => `${scope}?view=${view}`) : [])])];
}

const seen = new Set<string>();

/** Fails if an attack became part of the page. Attacks must be shown literally. */
async function check(page: Page, where: string) {
  const found = await page.evaluate(() => ({
    pwned: Reflect.get(window, 'pwnedAt') ?? null,
    elements: [
      ...document.querySelectorAll(
        '[onerror],[onload],[onclick],img[src="x"],[href^="javascript:" i],[src^="javascript:" i]',
      ),
    ].map((element) => element.outerHTML.slice(0, 200)),
    text: [
      document.title,
      document.body.innerText,
      ...[...document.querySelectorAll('input, textarea')].map((field) => String(Reflect.get(field, 'value'))),
    ].join('\n'),
  }));
  expect({ where, pwned: found.pwned, elements: found.elements }).toEqual({ where, pwned: null, elements: [] });
  for (const [, place = ''] of found.text.matchAll(marked)) {
    seen.add(place);
    expect(found.text, where).toContain(attack(place).slice(0, 120));
  }
}

async function loaded(page: Page) {
  await page
    .locator('h1')
    .first()
    .waitFor({ timeout: 180_000 })
    .catch(async () => {
      throw new Error(`${page.url()} has no heading: ${await page.locator('body').innerText()}`);
    });
  await expect.poll(() => page.locator('main [role="status"][aria-label], main [aria-busy="true"]').count()).toBe(0);
}

const over = (page: Page) => page.locator('[role="dialog"], [role="menu"]');

/** Closes all overlays: menus, drawers, and the prompt about unsaved changes. */
async function close(page: Page, where: string) {
  for (let i = 0; i < 12; i += 1) {
    const before = await over(page).count();
    if (before === 0) return;
    const leave = page.getByRole('button', { name: 'Leave', exact: true });
    const read = page.getByRole('button', { name: 'Got it' });
    const goes = (await leave.isVisible()) ? leave : (await read.isVisible()) ? read : null;
    // The overlay may close while we click.
    if (goes) await goes.click({ timeout: 3000 }).catch(() => undefined);
    else await page.keyboard.press('Escape');
    const isLess = (count: number) => document.querySelectorAll('[role="dialog"], [role="menu"]').length !== count;
    await page.waitForFunction(isLess, before, { timeout: 700 }).catch(() => undefined);
  }
  const names = await over(page).allInnerTexts();
  expect(names, `${where} stays open`).toEqual([]);
}

/** Clicks, and first closes and checks overlays that opened late. False if the element has disappeared. */
async function press(page: Page, target: Locator, where: string): Promise<boolean> {
  for (let tries = 1; ; tries += 1) {
    try {
      await target.click({ timeout: 5000 });
      return true;
    } catch (error) {
      await check(page, where);
      await close(page, where);
      if ((await target.count()) === 0) return false;
      if (tries === 6) throw new Error(`${where} at ${page.url()}`, { cause: error });
    }
  }
}

const nextFrames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));

/** Resolves when the overlay is open or no requests are pending. */
async function opened(page: Page, underWay: ReadonlySet<Request>) {
  for (let i = 0; i < 30; i += 1) {
    await page.evaluate(nextFrames);
    if (underWay.size === 0 || (await over(page).first().isVisible())) return;
  }
}

/** Opens the page's main form, and a row's menu with what is in it. */
async function openAll(page: Page, underWay: ReadonlySet<Request>, where: string) {
  await close(page, where);
  const main = page.locator('main [data-main-action]').first();
  if ((await main.count()) > 0 && (await main.isEnabled())) {
    const at = page.url();
    const isLink = (await main.getAttribute('href')) !== null;
    await press(page, main, where);
    if (isLink) {
      // Wait for the new page, or its predecessor's menus are found and vanish.
      await page.waitForURL(({ href }) => href !== at);
      await loaded(page);
    } else await opened(page, underWay);
    await check(page, `${where}, main action`);
    await close(page, where);
  }
  // The last menu of a row; the footer has one, too.
  const menu = page.locator('main [aria-haspopup="menu"]:not(footer *)').last();
  if ((await menu.count()) === 0 || !(await press(page, menu, where))) return;
  await opened(page, underWay);
  const items = page.getByRole('menuitem');
  // "Act as" would continue with fewer permissions.
  const names = (await items.allTextContents()).filter((name) => !name.startsWith('Act as'));
  await check(page, `${where}, menu`);
  await close(page, where);
  const at = page.url();
  for (const name of casesOfRun(names, 6)) {
    if (!(await press(page, menu, where))) return;
    await opened(page, underWay);
    const item = items.filter({ hasText: name }).first();
    // Earlier steps may have removed or disabled this item.
    if ((await item.count()) > 0 && (await item.isEnabled())) await item.click();
    await opened(page, underWay);
    await check(page, `${where}, ${name}`);
    // Pages that a menu item links to are checked on their own.
    if (page.url() !== at) return;
    await close(page, where);
  }
}

/** Opens a tab by its link, which takes a tenth of a page load. Loads the page if an earlier step left it. */
async function goToTab(page: Page, href: string, where: string) {
  const link = page.locator(`main nav a[href=${JSON.stringify(href)}]`);
  const isHere = (await link.count()) > 0 && (await press(page, link, where));
  if (!isHere) await page.goto(href);
  const leave = page.getByRole('button', { name: 'Leave', exact: true });
  const current = page.locator(`main nav a[href=${JSON.stringify(href)}][aria-current="page"]`);
  await current.or(leave).first().waitFor();
  await close(page, where);
  await current.waitFor();
  await loaded(page);
}

// Each console runs at one width, and both widths are covered. Parent accounts run last, because their menus can
// suspend child accounts. `npm test` opens every n-th screen and tab, and the screens whose texts the last test looks
// for. Only this test opens most screens of the admin console.
const walks = [
  { kind: 'user', width: 390, n: 16, always: /view=domains$|sitesSetting\/[^?]+$/ },
  {
    kind: 'client',
    width: 1440,
    n: 16,
    always: /nodeManage\/(?:sitesList|productsList|domains)$|sitesSetting\/[^?]+$/,
  },
  { kind: 'admin', width: 1440, n: 1, always: /./ },
] as const;
describe.each(walks)('the $kind console', ({ kind, width, n, always }) => {
  test(`at ${width} px shows every text literally, and runs none`, { timeout: 1_200_000 }, async () => {
    const screen = await consoles.openAs(accountOf(kind), 'dashboard', { width, expectedErrors: /status of 4\d\d/ });
    const { page } = screen;
    const isNarrow = width < 500;
    const faults: string[] = [];
    page.on('dialog', (dialog) => {
      if (dialog.type() !== 'beforeunload') faults.push(`a dialog says ${dialog.message()}`);
      void dialog.accept();
    });
    const underWay = new Set<Request>();
    page.on('request', (request) => underWay.add(request));
    page.on('requestfinished', (request) => void underWay.delete(request));
    page.on('requestfailed', (request) => void underWay.delete(request));
    await page.addInitScript(() =>
      Object.assign(window, { pwned: () => Object.assign(window, { pwnedAt: location.href }) }),
    );
    const all = await addresses(kind);
    const every = casesOfRun(all, n);
    for (const address of all.filter((one) => every.includes(one) || always.test(one))) {
      await page.goto(`/${kind}/${address}`);
      await loaded(page);
      const otherTabs = await page
        .locator('main nav a[href*="tab="]:not([aria-current="page"])')
        .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));
      for (const tab of casesOfRun([null, ...otherTabs], n)) {
        if (tab !== null) await goToTab(page, tab, address);
        const where = `${address}${tab ?? ''}`;
        await check(page, where);
        const wide = await horizontalOverflow(page);
        if (wide > 0) faults.push(`${where} is ${wide} px wider than the window`);
        if (isNarrow) await close(page, where);
        else await openAll(page, underWay, where);
        faults.push(...screen.browserErrors().map((text) => `${where}: ${text}`));
      }
    }
    await page.goto(`/${kind}/dashboard`);
    await loaded(page);
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('javascript:');
    if (kind !== 'admin') await page.getByRole('option', { name: /pwned/ }).first().waitFor();
    await check(page, 'palette');
    if ((await horizontalOverflow(page)) > 0) faults.push('the palette sticks out');
    expect(faults).toEqual([]);
  });
});

test('names, tags, addresses, memos and announcements with attacks were shown', () => {
  const planted = ['domains.name', 'domains.tags', 'sites.name', 'products.name'];
  // The screens that `npm test` opens show no others of these.
  const further = isLongRun ? ['zones.name', 'nodes.name', 'accounts.name'] : [];
  expect([...seen]).toEqual(expect.arrayContaining([...planted, ...further]));
  expect(seen.size).toBeGreaterThan(isLongRun ? 15 : 8);
});
