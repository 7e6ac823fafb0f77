// An operator's branding (look, announcements, mail server), and how readers see it.
import { createHash } from 'node:crypto';
import { announcementSetting } from '@edgeloom/contract/announcements/announcements.endpoints.ts';
import { branding } from '@edgeloom/contract/branding/branding.endpoints.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { collectedStops } from '../support/services/collected-stops.ts';
import { accessibilityViolations } from '../support/assertions/accessibility.ts';
import type { TestApp } from '../support/services/app.ts';
import { horizontalOverflow, type Screen } from '../support/services/browser.ts';
import { unique } from '../support/builders/build.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { startSmtp, type Smtp } from '../support/fakes/mail-server.ts';

let consoles: Consoles;
let app: TestApp;
let smtp: Smtp;

const { onEnd, stopAll } = collectedStops();
beforeAll(async () => {
  consoles = await startConsoles({ ORIGIN_ALLOW: '127.0.0.0/8' });
  onEnd(() => consoles.stop());
  ({ app } = consoles);
  smtp = await startSmtp();
  onEnd(() => smtp.stop());
}, 400_000);
afterAll(stopAll);

/** Chromium resolves every name under localhost. */
const ownHost = () => `${unique('console')}.localhost`;
const at = (host: string) => `http://${host}:${new URL(consoles.base.user).port}`;
const svg = (inner: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 24" width="96" height="24">${inner}</svg>`;
const file = (text: string) => new File([text], 'logo.svg', { type: 'image/svg+xml' });

async function faultsOf({ page, browserErrors }: Screen): Promise<string[]> {
  const wide = await horizontalOverflow(page);
  return [...(await accessibilityViolations(page)), ...(wide > 0 ? [`${wide} px too wide`] : []), ...browserErrors()];
}

describe("an operator's own host name", () => {
  test('shows the branding from the first byte, on the sign-in page and behind it', async () => {
    const { client, clientId } = await app.build.client();
    const host = ownHost();
    const made = await app.as(client).call(branding.create, {
      body: {
        host,
        title: 'Glow Select',
        copyright: '© Glow Ltd.',
        logo: file(svg('<rect width="24" height="24" fill="#d97d00"/>')),
        sidebarLogo: file(svg('<circle cx="12" cy="12" r="12" fill="#6b2788"/>')),
        backgroundImage: file(svg('<rect width="96" height="24" fill="#6b2788"/>')),
        favicon: file(svg('<rect width="24" height="24" fill="#6b2788"/>')),
      },
    });
    const screen = await consoles.open('user', { theme: 'light' });
    const { page } = screen;
    const answer = await page.goto(`${at(host)}/user/login`);
    const html = (await answer?.text()) ?? '';
    expect(html).toContain('<title>Glow Select</title>');
    expect(html).toContain(`<link rel="icon" href="${made.favicon}" />`);
    const logo = page.getByRole('img', { name: 'Glow Select' });
    await logo.waitFor();
    await expect.poll(() => logo.getAttribute('src')).toBe(made.logo);
    await page.getByText('© Glow Ltd.').waitFor();
    await expect.poll(() => page.title()).toBe('Sign in · Glow Select');
    // The image is scaled to the box.
    expect((await logo.boundingBox())?.height).toBe(24);
    expect(await faultsOf(screen)).toEqual([]);

    const user = await app.build.user({ clientId });
    await page.context().addCookies([
      { name: 'u_accessToken', value: user.token, url: at(host) },
      { name: 'u_tokenType', value: 'Bearer', url: at(host) },
    ]);
    await page.goto(`${at(host)}/user/dashboard`);
    await page.locator('aside').getByRole('img', { name: 'Glow Select' }).waitFor();
    await page.locator('main h1').waitFor();
    await expect.poll(() => page.title()).toBe('Dashboard · Glow Select');
    await page.context().close();
  });

  test('shows the default branding when no operator uses it', async () => {
    const { page } = await consoles.open('user');
    await page.goto(`${at(ownHost())}/user/login`);
    await page.getByText('Edgeloom', { exact: true }).waitFor();
    await expect.poll(() => page.title()).toBe('Sign in · Edgeloom');
    await page.context().close();
  });

  test('gets its branding in a form with preview', async () => {
    const { client } = await app.build.client();
    const screen = await consoles.openAs(client, 'userManagement/customizeLogo', { theme: 'light' });
    const { page } = screen;
    await page.getByRole('button', { name: 'Add host name' }).first().click();
    const form = page.getByRole('dialog');
    const host = ownHost();
    await form.getByLabel('Host name').fill(host);
    await form.getByLabel('Name', { exact: false }).nth(1).fill('Glow');
    await form
      .locator('input[type="file"]')
      .first()
      .setInputFiles({
        name: 'rail.svg',
        mimeType: 'image/svg+xml',
        buffer: Buffer.from(svg('<rect width="96" height="24" fill="#6b2788"/>')),
      });
    expect(await faultsOf(screen)).toEqual([]);
    await form.getByRole('button', { name: 'Add host name' }).click();
    await page.getByRole('cell', { name: host, exact: true }).waitFor();
    const { data } = await app.as(client).call(branding.list);
    expect(data).toMatchObject([{ host, title: 'Glow', sidebarLogo: expect.stringMatching(/^\/branding\/.+\.svg$/) }]);
    await page.context().close();
  });
});

test('a picture with script runs nothing, whether opened directly or shown on a page', async () => {
  const { clientId } = await app.build.client();
  const evil = svg(
    `<script>alert(1); fetch('/ran')</script><rect width="9" height="9" onload="alert(1); fetch('/ran')"/>
     <foreignObject width="9" height="9"><iframe xmlns="http://www.w3.org/1999/xhtml" src="javascript:alert(1)"/></foreignObject>
     <image href="/loaded" onerror="alert(1)"/><animate attributeName="x" onbegin="alert(1); fetch('/ran')"/>`,
  ).replace('<svg ', `<svg onload="alert(1); fetch('/ran')" `);
  const [bytes, hash] = [Buffer.from(evil), createHash('sha256').update(evil).digest('hex')];
  const host = ownHost();
  await app.installation.db.branding.create({
    data: {
      clientId,
      host,
      images: { create: ['logo', 'backgroundImage'].map((slot) => ({ slot, hash, format: 'svg', bytes })) },
    },
  });
  const { page } = await consoles.open('user', { expectedErrors: /./ });
  const seen: string[] = [];
  page.on('dialog', (dialog) => {
    seen.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (request.url().endsWith('/ran')) seen.push(request.url());
  });
  // Chromium logs requests that the CSP blocks.
  page.on('response', (response) => {
    if (response.url().endsWith('/loaded')) seen.push(response.url());
  });
  const answer = await page.goto(`${at(host)}/branding/${hash}.svg`);
  expect(answer?.status()).toBe(200);
  await page.goto(`${at(host)}/user/login`);
  await page.locator(`img[src$="${hash}.svg"]`).first().waitFor();
  await page.waitForLoadState('networkidle');
  expect(seen).toEqual([]);
  await page.context().close();
});

describe('an announcement', () => {
  test('opens once beside the page, as text and without taking focus, and can be reopened', async () => {
    const tenant = await app.build.client();
    const user = await app.build.user(tenant);
    for (const title of ['<b>News</b>', 'More news'])
      await app.as(tenant.client).call(announcementSetting.create, {
        body: { title, content: '<img src=x onerror=alert(1)>\nsecond line', start: '2026-01-01T00:00:00.000Z' },
      });
    const screen = await consoles.openAs(user, 'sitesManagement', { theme: 'light' });
    const { page } = screen;
    const panel = page.getByRole('region', { name: 'Announcements' });
    await panel.waitFor();
    await expect
      .poll(() => panel.getByRole('listitem').allTextContents())
      .toEqual([expect.stringContaining('<b>News</b>'), expect.stringContaining('More news')]);
    await panel.getByText('<img src=x onerror=alert(1)>').first().waitFor();
    await expect.poll(() => panel.evaluate((element) => element.contains(document.activeElement))).toBe(false);
    expect(await faultsOf(screen)).toEqual([]);
    await panel.getByRole('button', { name: 'Got it' }).click();
    await panel.waitFor({ state: 'hidden' });
    await page.reload();
    const megaphone = page.getByRole('button', { name: 'Announcements, 0 unread' });
    await megaphone.waitFor();
    await expect.poll(() => panel.count()).toBe(0);
    await megaphone.click();
    await panel.getByText('More news').waitFor();
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'hidden' });
    await page.locator('button:focus[aria-label^="Announcements"]').waitFor();
    await page.context().close();
  });

  test('is created, ordered and expired on its own page', async () => {
    const { client } = await app.build.client();
    const { page } = await consoles.openAs(client, 'userManagement/announcementSetting', { theme: 'light' });
    for (const title of ['First', 'Second']) {
      await page.getByRole('button', { name: 'Add announcement' }).first().click();
      const form = page.getByRole('dialog').filter({ has: page.getByLabel('Title') });
      await form.getByLabel('Title').fill(title);
      await form.getByLabel('Text').fill('text');
      await form.getByRole('button', { name: 'Add announcement' }).click();
      await page.getByRole('cell', { name: title, exact: true }).waitFor();
      await page.getByRole('button', { name: 'Got it' }).click();
    }
    await page
      .getByRole('row', { name: /Second/ })
      .getByRole('button')
      .last()
      .click();
    await page.getByRole('menuitem', { name: 'Move up' }).click();
    await eventually(async () => {
      const { data } = await app.as(client).call(announcementSetting.list);
      expect(data.map(({ title }) => title)).toEqual(['Second', 'First']);
    });
    await page.context().close();
  });
});

test('a mail server is tested and saved on the settings page, and its password is not shown again', async () => {
  const { client } = await app.build.client();
  const screen = await consoles.openAs(client, 'systemManagement/systemSetting', {
    theme: 'light',
    expectedErrors: /status of 400/,
  });
  const { page } = screen;
  const part = page.getByRole('region', { name: 'E-mail' });
  // Regression: a section that was never set up showed its switch on.
  for (const name of ['E-mail', 'Single sign-on'])
    await expect.poll(() => page.getByRole('region', { name }).getByRole('switch').isChecked()).toBe(false);
  await part.getByRole('switch').click({ force: true });
  await part.getByLabel('Host').fill('127.0.0.1');
  await part.getByLabel('Port').fill(String(smtp.port));
  await part.getByLabel('Encryption').click();
  await page.getByRole('option', { name: 'None' }).click();
  await part.getByLabel('User name').fill('mailer');
  await part.getByLabel('Password', { exact: true }).fill('wrong');
  await part.getByLabel('Address').fill('mail@glow.test');
  await part.getByRole('button', { name: 'Send test e-mail' }).click();
  await part.getByRole('alert').filter({ hasText: '101020' }).waitFor();
  await part.getByLabel('Password', { exact: true }).fill('right');
  await part.getByRole('button', { name: 'Send test e-mail' }).click();
  await eventually(() => expect(smtp.received.map(({ to }) => to)).toContainEqual([client.email]));
  await part.getByRole('button', { name: 'Save' }).click();
  await eventually(async () =>
    expect(
      await app.installation.db.emailSetting.count({ where: { clientId: client.clientId ?? '', enabled: true } }),
    ).toBe(1),
  );
  await page.reload();
  await eventually(async () => expect(await part.getByLabel('Host').inputValue()).toBe('127.0.0.1'));
  await expect.poll(() => part.getByLabel('Password', { exact: true }).inputValue()).toBe('');
  expect(await faultsOf(screen)).toEqual([]);
  await page.context().close();
});
