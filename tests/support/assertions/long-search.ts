// A search of requests that ends early, and continues in the console.
import type { Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import type { TestApp } from '../services/app.ts';
import { eventually } from './eventually.ts';

/** Until the end of the test, each search reads 15 seconds. */
export function searchInSmallSteps({ installation }: Pick<TestApp, 'installation'>): void {
  const { env } = installation;
  installation.env = { ...env, LOG_SEARCH_MS: 0 };
  onTestFinished(() => {
    installation.env = env;
  });
}

/** Waits for the note at the end of the list. The console pauses after forty searches. */
export async function searchToEnd(page: Page, note: string): Promise<void> {
  const button = page.locator('button:not([data-loading])', { hasText: 'Continue search' });
  await eventually(
    async () => {
      await button.evaluateAll((all) => {
        for (const one of all) if (one instanceof HTMLElement) one.click();
      });
      expect(await page.getByText(note).count()).toBe(1);
    },
    { within: 120_000 },
  );
}

/** From now on, the first page of a list takes longer than a visible list needs to ask for older rows. */
export async function delayFirstPages(page: Page): Promise<void> {
  onTestFinished(() => page.unrouteAll({ behavior: 'ignoreErrors' }));
  await page.route(/\/logs\/(?:access|waf)$/, async (route) => {
    const isFirst = !/"(?:until|before)"/.test(route.request().postData() ?? '');
    if (isFirst)
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    await route.continue();
  });
}
