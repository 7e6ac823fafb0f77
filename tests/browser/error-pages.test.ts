// Custom error pages: preview, publishing and the visitor's view.
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { errorPages } from '@edgeloom/contract/error-pages/error-pages.endpoints.ts';
import { siteAntiHeaders } from '@edgeloom/contract/hotlink/hotlink.endpoints.ts';
import { startProduct, type Product } from '../support/services/browser.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
}, 400_000);
afterAll(() => product.stop());

const visit = () =>
  new Promise<string>((resolve, reject) => {
    const headers = { host: product.summary.demo.domain, 'x-robot': '1' };
    request({ port: product.edgePort, host: '127.0.0.1', path: '/', headers })
      .on('response', (answer) => {
        let body = '';
        answer.on('data', (chunk: Buffer) => (body += chunk.toString()));
        answer.on('end', () => resolve(`${answer.statusCode} ${body}`));
      })
      .on('error', reject)
      .end();
  });

test('a page is previewed, published, served to a visitor, disabled and removed', { timeout: 300_000 }, async () => {
  const { siteID: siteId } = product.summary.demo;
  const user = await product.as('user');
  const rule = { name: 'X-Robot', operator: 'exists' } as const;
  await user(siteAntiHeaders.create, { params: { siteId }, body: { antiHeaders: [rule] } });
  const { page } = await product.openAs('user', `sitesManagement/sitesSetting/${siteId}/Demo?view=errors`);
  await page.getByRole('button', { name: 'Add error page' }).first().click();
  const form = page.getByRole('dialog');
  await form.getByRole('combobox', { name: 'Code' }).click();
  await page.getByRole('option', { name: '403 Forbidden' }).click();
  const html =
    '<style>h1 { color: rgb(1, 2, 3) } body { background: url(https://x.example/y.png) }</style><h1>Not from there</h1>' +
    '<p style="color: rgb(4, 5, 6)">or anywhere</p><img src="https://x.example/z.png" onerror="parent.pwned = 1">' +
    '<script>parent.pwned = 1</script><a href="https://x.example/">away</a><meta http-equiv="refresh" content="0;url=https://x.example/">';
  await form.getByRole('textbox', { name: 'Content' }).fill(html);
  const preview = page.frameLocator('iframe');
  await preview.getByRole('heading', { name: 'Not from there' }).waitFor();
  const colour = (selector: string) => preview.locator(selector).evaluate((element) => getComputedStyle(element).color);
  await eventually(async () =>
    expect([await colour('h1'), await colour('p')]).toEqual(['rgb(1, 2, 3)', 'rgb(4, 5, 6)']),
  );
  await expect.poll(() => page.evaluate(() => Reflect.get(window, 'pwned') ?? null)).toBeNull();
  await form.getByRole('switch', { name: "Only for the edge's own errors" }).check({ force: true });
  await keepPicture(page, 'error-page-form');
  await form.getByRole('button', { name: 'Add error page' }).click();
  await form.waitFor({ state: 'hidden' });
  await eventually(async () => expect(await visit()).toBe(`403 ${html}`));
  await keepPicture(page, 'error-pages');

  const { data } = await user(errorPages.list, { params: { siteId } });
  const made = { code: 403, type: 'content', value: html, enabled: true, edgeOnly: true };
  expect(data).toMatchObject([made]);
  await page.locator('tbody tr').first().getByRole('button').last().click();
  await page.getByRole('menuitem', { name: 'Turn off' }).click();
  await eventually(async () => expect(await visit()).toContain('The owner of this site does not allow this request.'));
  await page.getByRole('button', { name: 'Undo' }).click();
  await eventually(async () => expect(await visit()).toBe(`403 ${html}`));
  expect(await user(errorPages.list, { params: { siteId } })).toMatchObject({ data: [made] });
});

test('a second page for the same code is rejected with a message', { timeout: 180_000 }, async () => {
  const { siteID: siteId } = product.summary.demo;
  const user = await product.as('user');
  const made = { code: 504, type: 'redirect', value: 'https://status.example.com/' } as const;
  await user(errorPages.create, { params: { siteId }, body: { errorPages: [made] } });
  const address = `sitesManagement/sitesSetting/${siteId}/Demo?view=errors`;
  const { page } = await product.openAs('user', address, { expectedErrors: /status of 409/ });
  await page.getByRole('button', { name: 'Add error page' }).first().click();
  const form = page.getByRole('dialog');
  await form.getByRole('combobox', { name: 'Code' }).click();
  await page.getByRole('option', { name: /^504/ }).click();
  await form.getByRole('button', { name: 'Add error page' }).click();
  const message = page.getByText('This code already has a page').first();
  await eventually(async () => expect(await message.isVisible()).toBe(true));
});
