import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accessibilityViolations, rulesOf } from '../support/assertions/accessibility.ts';
import { casesOfRun, longTest } from '../support/builders/long-run.ts';
import { horizontalOverflow, type Screen } from '../support/services/browser.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';

let consoles: Consoles;
beforeAll(async () => {
  consoles = await startConsoles();
}, 400_000);
afterAll(() => consoles.stop());

const faults = async ({ page }: Screen, theme: 'light' | 'dark') => {
  return [...(await accessibilityViolations(page, { rules: rulesOf(theme) })), await horizontalOverflow(page)];
};

test.each(['user', 'client'] as const)(
  'every call of the %s console has its own page',
  { timeout: 300_000 },
  async (kind) => {
    const site = await consoles.app.build.site();
    const screen = await consoles.openAs(kind === 'user' ? site.owner : site.client, 'userManagement/apiDoc');
    const { page } = screen;
    const calls = page.locator('main nav li a');
    await calls.first().waitFor();
    const paths = await calls.locator('span:last-child > span:last-child').allTextContents();
    const other = kind === 'user' ? 'client' : 'user';
    expect(paths.length).toBeGreaterThan(60);
    expect(paths.filter((path) => path.startsWith(`/${other}`) || path.startsWith('/admin'))).toEqual([]);
    const links = await calls.evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''));
    // Customers see only the endpoints of their sites.
    const own = links.filter((_, i) => kind === 'user' || !paths[i]?.startsWith('/client/site/'));
    for (const href of casesOfRun(own, 20)) {
      await page.evaluate((hash) => void (location.hash = hash), href.slice(href.indexOf('#')));
      await page.locator(`main nav a[href="${href}"][aria-current="page"]`).waitFor();
      const shown = await page.getByRole('article').innerText();
      expect(shown).toContain('/api/v1/');
      expect(shown, href).not.toMatch(/undefined|\[object|NaN/);
    }
  },
);

test('a call is searched, displayed and copied as a working curl command', async () => {
  const site = await consoles.app.build.site();
  const screen = await consoles.openAs(site.owner, 'userManagement/apiDoc');
  const { page } = screen;
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: consoles.base.user });
  await page.getByRole('searchbox', { name: 'Path, name or permission' }).fill('domain:read metadomains');
  await page.getByRole('link', { name: /metaDomains/ }).click();
  await page.getByText('Needs the permission domain:read').waitFor();
  const shown = page.getByRole('region', { name: 'curl' });
  await expect.poll(() => shown.innerText()).toContain('"Authorization: Bearer $TOKEN"');
  await page.getByText('This session', { exact: true }).click();
  await expect.poll(() => shown.innerText()).toContain('Bearer ••••');
  // The token must appear only in the copied command.
  expect(await page.content()).not.toContain(site.owner.token);
  await page.getByRole('button', { name: 'Copy curl' }).click();
  const command = await page.evaluate(() => navigator.clipboard.readText());
  const [, url = ''] = /'(http[^']+)'/.exec(command) ?? [];
  const [, bearer = ''] = /'Authorization: (Bearer [^']+)'/.exec(command) ?? [];
  const address = url.replace(/site\/[^/]+/, `site/${site.id}`);
  expect(address).toContain(domains.meta.path.replace(':siteId', site.id));
  expect((await fetch(address, { headers: { authorization: bearer } })).status).toBe(200);
});

test('a link leads to one call, or to the errors', async () => {
  const { client } = await consoles.app.build.client();
  const { page } = await consoles.openAs(client, 'userManagement/apiDoc#client.zones.create');
  await page.getByRole('heading', { level: 2, name: 'Zones · Create' }).waitFor();
  await page.getByText('201002').waitFor();
  await page.getByRole('link', { name: /any call can return/ }).click();
  await page.getByRole('heading', { level: 2, name: 'Errors' }).waitFor();
  await expect.poll(() => page.getByText('101016').count()).toBe(1);
});

const looks = [
  ['zh-TW', 390],
  ['en', 1440],
] as const;
// screens.test.ts opens the page and one call wide and light, and narrow and dark.
describe.each(looks)('in %s at %i px', (language, width) => {
  longTest('the page has no accessibility violations and no overflow', { timeout: 300_000 }, async () => {
    const { client } = await consoles.app.build.client();
    for (const theme of ['light', 'dark'] as const) {
      const screen = await consoles.openAs(client, 'userManagement/apiDoc', { language, width, theme });
      const { page } = screen;
      await page.locator('main nav a').first().waitFor();
      expect(await faults(screen, theme)).toEqual([0]);
      for (const hash of ['client.domains.create', 'errors']) {
        await page.evaluate((to) => void (location.hash = to), hash);
        await page.getByRole('article').waitFor();
        expect(await faults(screen, theme)).toEqual([0]);
      }
      await page.context().close();
    }
  });
});
