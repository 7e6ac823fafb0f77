// Anti-CC challenges in a real browser.
import { request } from 'node:http';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { noAntiCC, ZoneAntiCC } from '@edgeloom/contract/zone-anti-cc/zone-anti-cc.ts';
import { accessibilityViolations } from '../support/assertions/accessibility.ts';
import { isLongRun } from '../support/builders/long-run.ts';
import { chromiumOfWorker, openWindow, horizontalOverflow, type WindowOptions } from '../support/services/browser.ts';
import { startEdge, zoneDoc, type Edge } from '../support/services/edge.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';

/** A GET of this URL from an address of this machine. */
const sentFrom = (localAddress: string, url: string, headers: Record<string, string>) =>
  new Promise<{ status: number; headers: Record<string, string>; body: Buffer }>((resolve, reject) => {
    const { port, pathname, search, host } = new URL(url);
    const fields = Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(':')));
    const sent = { port, path: pathname + search, localAddress, headers: { ...fields, host }, agent: false };
    request({ host: '127.0.0.1', ...sent }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        const entries = Object.entries(answer.headers).map(([name, value]) => [name, [value].flat().join('\n')]);
        resolve({
          status: answer.statusCode ?? 0,
          headers: Object.fromEntries(entries.filter(([name]) => name !== 'transfer-encoding')),
          body: Buffer.concat(chunks),
        });
      });
    })
      .on('error', reject)
      .end();
  });

let edge: Edge;
let browser: Browser;
beforeAll(async () => {
  // The work in place of the image takes a browser up to half a minute. `edge/anti-cc.test.ts` does all of it.
  const lua = isLongRun ? [] : [{ file: 'edge/anti_cc/proofs.lua', from: 'INSTEAD = 3', to: 'INSTEAD = 0' }];
  [edge, browser] = await Promise.all([startEdge({ lua }), chromiumOfWorker()]);
});
afterAll(() => edge.stop());

const usual = ZoneAntiCC.omit({ enabled: true }).parse(noAntiCC);

/** A site that challenges every request. */
async function visited(mode: 1 | 2 | 3 | 4, name: string, look: WindowOptions = {}) {
  const antiCC = { ...usual, mode, requests: 0, difficulty: 1, whitelist: [] };
  await edge.put(zoneDoc(edge.ports, { antiCC }));
  await edge.site({}, { name });
  edge.origin.on('/film', { headers: { 'content-type': 'text/html' }, body: '<title>x</title><h1>The film</h1>' });
  edge.origin.on('/favicon.ico', { status: 204 });
  const base = `http://${name}:${edge.ports.http}`;
  const { page } = await openWindow(browser, base, { ...look, expectedErrors: /status of 978/ });
  return { page, address: `${base}/film?x=1#part` };
}

test('the five-second shield passes a browser automatically to the requested URL', async () => {
  const { page, address } = await visited(1, 'shield.localhost', { width: 390 });
  await page.goto(address);
  await page.getByRole('heading', { name: 'The film' }).waitFor();
  await expect.poll(() => page.url()).toBe(address);
  expect((await page.context().cookies()).find(({ name }) => name === 'edgeloom_pass')).toMatchObject({
    httpOnly: true,
  });
  await page.reload();
  await page.getByRole('heading', { name: 'The film' }).waitFor();
});

test('the button challenge works by keyboard and is readable in dark mode', async () => {
  const { page, address } = await visited(3, 'click.localhost', { width: 390 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.goto(address);
  const button = page.getByRole('button', { name: 'I am human' });
  await expect.poll(() => button.evaluate((one) => one === document.activeElement)).toBe(true);
  await expect.poll(() => horizontalOverflow(page)).toBeLessThanOrEqual(0);
  expect(await accessibilityViolations(page)).toEqual([]);
  await keepPicture(page, 'challenge-click-dark');
  await button.press('Enter');
  await page.getByRole('heading', { name: 'The film' }).waitFor();
});

test('a browser takes its pass to another address without being asked', async () => {
  const { page, address } = await visited(3, 'moved.localhost');
  const pressed = () => page.getByRole('button', { name: 'I am human' }).press('Enter', { timeout: 10_000 });
  await page.goto(address);
  await pressed();
  await page.getByRole('heading', { name: 'The film' }).waitFor();
  const passes = async () =>
    (await page.context().cookies()).flatMap(({ name, value }) => (name === 'edgeloom_pass' ? [value] : []));
  const [before = ''] = await passes();
  // The browser's own requests, sent from another address of this machine.
  await page.route('**/*', async (route) => {
    const asked = route.request();
    const answer = await sentFrom('127.0.0.77', asked.url(), await asked.allHeaders());
    await route.fulfill(answer);
  });
  const challenged = page.waitForResponse((answer) => answer.status() === 978);
  await page.reload();
  await challenged;
  await page.getByRole('heading', { name: 'The film' }).waitFor();
  const [after = ''] = await passes();
  expect([after === before, after.split('.')[2]]).toEqual([false, before.split('.')[2]]);
  await page.unroute('**/*');
  await page.reload();
  await page.getByRole('heading', { name: 'The film' }).waitFor();
});

test('without JavaScript a form asks for the code', async () => {
  const { address } = await visited(1, 'plain.localhost');
  const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 360, height: 800 } });
  const page = await context.newPage();
  await page.goto(address);
  // An answer within the shield's least time is not judged, so answer until one is.
  const answer = async () => {
    await page.getByLabel('Characters in the image').fill('zzzzz');
    await page.getByRole('button', { name: 'Continue' }).click();
    // Playwright finds no text in a noscript element.
    return (await page.locator('noscript .bad').allInnerTexts()).join();
  };
  await expect.poll(answer).toContain('Verification failed');
  await expect.poll(() => new URL(page.url()).search).toBe('?x=1');
  await context.close();
});

test(
  'after a wrong answer the image challenge shows another image, or takes a proof of work',
  {
    timeout: 300_000,
  },
  async () => {
    const { page, address } = await visited(2, 'code.localhost');
    await page.goto(address);
    const field = page.getByLabel('Characters in the image');
    await field.fill('zzzzz');
    await keepPicture(page, 'challenge-code');
    await page.keyboard.press('Enter');
    await page.getByText('Verification failed').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: "Can't see the image?" }).click();
    await page.getByRole('heading', { name: 'The film' }).waitFor({ timeout: 200_000 });
  },
);

test('the redirect challenge is invisible', async () => {
  const { page, address } = await visited(4, 'redirect.localhost');
  await page.goto(address);
  await page.getByRole('heading', { name: 'The film' }).waitFor();
  await expect.poll(() => page.url()).toBe(address);
});
