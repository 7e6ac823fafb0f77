// Runs axe in a page. axe is injected once per document, because injecting takes longer than a run.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Injecting the minified file takes two thirds of the time. */
const source = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AccessibilityOptions {
  /** Names of axe rules to run. Empty means all rules. */
  rules?: string[];
  /** Selectors to exclude. */
  exclude?: string[];
}

/** Rules to run in a theme. Only contrast depends on it; the light theme runs all rules. */
export const rulesOf = (theme: 'light' | 'dark') => (theme === 'dark' ? ['color-contrast'] : []);

/** One line per violation, with at most three elements of each rule. Frames are not checked. */
export async function accessibilityViolations(
  page: Page,
  { rules = [], exclude = [] }: AccessibilityOptions = {},
): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(await source);
  return page.evaluate(
    async ({ runOnly, context }) => {
      const { violations } = await window.axe.run(context, { resultTypes: ['violations'], iframes: false, ...runOnly });
      return violations.flatMap(({ id, help, nodes }) =>
        nodes.slice(0, 3).map(({ html }) => `${id}: ${help}: ${html.slice(0, 200)}`),
      );
    },
    { runOnly: rules.length > 0 && { runOnly: rules }, context: { exclude } },
  );
}

declare global {
  interface Window {
    axe: typeof axe;
  }
}
