// The main workflow, using only the consoles and visitors' requests.
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { collectedStops } from '../support/services/collected-stops.ts';
import { testAgent } from '../support/services/agent.ts';
import { signIn, startProduct } from '../support/services/browser.ts';
import type { Product } from '../support/services/browser.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { startOrigin } from '../support/fakes/origin.ts';
import type { Origin } from '../support/fakes/origin.ts';
import { freePort } from '../support/services/ports.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';
import { visit } from '../support/assertions/visit.ts';

let product: Product;
let before: Origin;
let after: Origin;

const { onEnd, stopAll } = collectedStops();
beforeAll(async () => {
  product = await startProduct();
  onEnd(() => product.stop());
  before = await startOrigin();
  onEnd(() => before.stop());
  after = await startOrigin();
  onEnd(() => after.stop());
  before.on('/page', { headers: { 'cache-control': 'max-age=600' }, body: 'the first origin' });
  after.on('/page', { headers: { 'cache-control': 'max-age=600' }, body: 'the second origin' });
}, 400_000);
afterAll(stopAll);

test(
  'a customer enables a domain, moves it to another origin, purges it and disables it',
  { timeout: 300_000 },
  async () => {
    const host = 'shop.main-job.test';
    const ask = () => visit(product.edgePort, host, '/page');
    const screen = await product.open();
    const { page } = screen;
    const menu = page.getByRole('navigation', { name: 'Site menu' });
    await signIn(screen, 'user', product.summary);

    await page.getByRole('link', { name: 'Sites' }).click();
    await page.getByRole('link', { name: 'Demo site' }).click();
    await menu.getByRole('link', { name: 'Domains' }).click();
    await page.getByRole('link', { name: 'Add domains' }).click();
    const next = page.getByRole('button', { name: 'Next' });
    await page.getByRole('textbox', { name: 'Domains', exact: true }).fill(`${host}\nSHOP.main-job.test`);
    // Names are case-insensitive.
    await page.getByText('1 repeated, skipped').waitFor();
    await page.getByRole('textbox', { name: 'Domains', exact: true }).fill(`https://${host}/anything`);
    await next.click();
    await page.getByLabel('Address 1').fill('127.0.0.1');
    await page.getByLabel('Port 1').fill(String(before.port));
    // The protocol is preset from the origin's response.
    await page.getByText('responds over HTTP,').waitFor();
    await next.click();
    await page.getByLabel('None for now').click();
    await next.click();
    await page.getByRole('button', { name: 'Add 1 domain' }).click();
    await page.getByRole('link', { name: 'Go to domains' }).click();
    await page.getByRole('link', { name: host }).waitFor();

    const first = await eventually(async () => {
      const answer = await ask();
      expect(answer.status).toBe(200);
      return answer;
    });
    expect(first).toMatchObject({ body: 'the first origin', cache: 'uri-miss' });
    expect(await ask()).toMatchObject({ body: 'the first origin', cache: 'hit' });

    await page.getByRole('link', { name: host }).click();
    await page.getByLabel('Port 1').fill(String(after.port));
    await page.getByText(`port ${before.port} → ${after.port}`).waitFor();
    await page.getByRole('button', { name: 'Save & publish' }).click();
    await page.getByText('Domain updated').waitFor();
    // Cached content is served until it is purged.
    await eventually(async () => {
      await visit(product.edgePort, host, '/elsewhere');
      expect(after.asked('/elsewhere')).not.toEqual([]);
    });
    expect(await ask()).toMatchObject({ body: 'the first origin', cache: 'hit' });

    await page.getByRole('link', { name: 'Purge' }).click();
    await page.getByLabel('URLs', { exact: true }).last().fill(`http://${host}:${product.edgePort}/page`);
    await page.getByRole('button', { name: 'Purge 1 URL' }).click();
    await page.getByText('Cache purged').waitFor();
    await page.getByText('1 of 1 nodes').waitFor();
    expect(await ask()).toMatchObject({ body: 'the second origin', cache: 'uri-miss' });

    await menu.getByRole('link', { name: 'Domains' }).click();
    await page
      .getByRole('switch', { name: `${host} is on` })
      .locator('..')
      .click();
    await page.getByRole('dialog').getByRole('button', { name: 'Turn off' }).click();
    await eventually(async () => expect((await ask()).status).toBe(903));
    expect(screen.browserErrors()).toEqual([]);
  },
);

test('an operator creates a zone, a product and a site for a customer', { timeout: 300_000 }, async () => {
  const screen = await product.open();
  const { page } = screen;
  const drawer = page.getByRole('dialog');
  const menu = page.getByRole('navigation', { name: 'Main menu' });
  await signIn(screen, 'client', product.summary);

  await menu.getByRole('link', { name: 'Zones' }).click();
  await page.getByRole('button', { name: 'Add zone' }).click();
  await drawer.getByLabel('Name', { exact: true }).fill('Asia core');
  await drawer.getByRole('button', { name: 'Add zone' }).click();
  await page.getByRole('link', { name: 'Asia core' }).waitFor();

  await menu.getByRole('link', { name: 'Products' }).click();
  await page.getByRole('button', { name: 'Add product' }).click();
  await drawer.getByLabel('Name', { exact: true }).fill('Business 500G');
  await drawer.getByRole('combobox', { name: 'Zone' }).click();
  await page.getByRole('option', { name: 'Asia core' }).click();
  await drawer.getByLabel('Traffic price').fill('1.20');
  await drawer.getByRole('button', { name: 'Add product' }).click();
  await page
    .getByRole('row', { name: /Business 500G/ })
    .getByText('NTD 1.20 / GB')
    .waitFor();

  await menu.getByRole('link', { name: 'Sites', exact: true }).click();
  await page.getByRole('button', { name: 'Add site' }).click();
  await drawer.getByLabel('Site', { exact: true }).fill('Glow Select');
  await drawer.getByRole('combobox', { name: 'Product' }).click();
  await page.getByRole('option', { name: 'Business 500G' }).click();
  await drawer.getByRole('combobox', { name: /Customer/ }).click();
  await page.getByRole('option', { name: new RegExp(product.summary.accounts.user.email) }).click();
  await drawer.getByRole('button', { name: 'Add site' }).click();
  await page.getByRole('link', { name: 'Glow Select' }).click();
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  expect(screen.browserErrors()).toEqual([]);
});

test(
  'a machine that runs the join command appears, serves, is monitored and executes commands',
  { timeout: 300_000 },
  async () => {
    const port = await freePort();
    const client = await product.as('client');
    await client(zones.create, { body: { name: 'Hong Kong', ports: [{ port, tls: false }] } });
    const screen = await product.open();
    const { page } = screen;
    const drawer = page.getByRole('dialog');
    await signIn(screen, 'client', product.summary);

    await page.getByRole('link', { name: 'Nodes', exact: true }).click();
    await page.getByRole('link', { name: 'Uninitialized' }).click();
    await page.getByText('Every node has joined').waitFor();
    await page.getByRole('link', { name: 'Install node' }).first().click();
    await page.getByText('Command').click();
    await page.getByLabel('Name', { exact: true }).fill('hkg-01');
    await page.getByLabel('Address', { exact: true }).fill('192.0.2.66');
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('combobox', { name: 'Zone' }).click();
    await page.getByRole('option', { name: 'Hong Kong' }).click();
    await page.getByRole('button', { name: 'Create command' }).click();
    await page.getByText('Waiting for the node to join…').waitFor();
    const shown = await page.locator('main pre').innerText();
    const [, token = '', control = ''] =
      /^\(echo EDGELOOM_TOKEN=(\S+); curl -fsSL (\S+)\/api\/v1\/node\/install\.sh\) \| sudo sh$/.exec(shown) ?? [];

    const agent = await testAgent({ control, token });
    try {
      agent.start();
      await page.getByText(/^Joined, serial \d+$/).waitFor({ timeout: 240_000 });
      await page.getByRole('link', { name: 'Open node' }).click();
      await page.getByRole('heading', { level: 1, name: 'hkg-01' }).waitFor();
      await page.getByText('matches the control plane').waitFor();
      expect((await visit(port, 'nobody.example.com')).status).toBe(903);

      await page.getByRole('link', { name: 'Performance' }).click();
      await page.getByRole('img', { name: /^CPU: [\d.]+% of \d+ cores$/ }).waitFor();
      const network = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Network' }) });
      await network.locator('canvas').waitFor();
      await network.getByText('Show as table').click();
      const table = network.getByRole('table');
      await expect.poll(() => table.getByRole('columnheader').allTextContents()).toEqual(['Time', 'Sent', 'Received']);
      await table.getByRole('cell', { name: /bps$/ }).first().waitFor();
      await keepPicture(page, 'node-performance');
      await page.getByRole('link', { name: 'Connections' }).click();
      await page.getByRole('img', { name: /^TCP connections: / }).waitFor();
      await page.getByRole('link', { name: 'Info', exact: true }).click();
      await page.getByRole('button', { name: 'Show the files' }).click();
      await page.getByRole('cell', { name: 'nginx.conf' }).waitFor();
      await keepPicture(page, 'node-running');
      await page.getByRole('link', { name: 'Log rotation' }).click();
      await page.getByRole('combobox', { name: 'Rotation interval' }).click();
      await page.getByRole('option', { name: 'Every day' }).click();
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('Changes saved').first().waitFor();
      await keepPicture(page, 'node-logs');
      await page.getByRole('button', { name: 'Rotate logs now' }).click();
      await page.getByText('Logs rotated').waitFor();

      await page.getByRole('button', { name: 'Actions for hkg-01' }).click();
      await page.getByRole('menuitem', { name: 'Purge from cache' }).click();
      await drawer.getByText('Tag', { exact: true }).click();
      await drawer.getByLabel('Items, one per line').fill('autumn');
      await drawer.getByRole('button', { name: 'Purge from cache' }).click();
      await page.getByText('Purged on the nodes').waitFor();

      await page.getByRole('button', { name: 'Actions for hkg-01' }).click();
      await page.getByRole('menuitem', { name: 'Drain and disable' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Drain and disable' }).click();
      await page.getByText('Draining: it stops serving in 5 minutes').waitFor();
      expect((await visit(port, 'nobody.example.com')).status).toBe(903);
      await page.getByRole('navigation').getByRole('link', { name: 'Nodes' }).first().click();
      await page.getByText(/^draining until /).waitFor();
      await keepPicture(page, 'nodes-live');
    } finally {
      await agent.stop();
    }
    expect(screen.browserErrors()).toEqual([]);
  },
);
