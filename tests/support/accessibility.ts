// What axe finds at fault in a page. It is brought into each document once: to bring it in for every look takes longer than to look.
import axe from 'axe-core';
import type { Page } from 'playwright-core';

interface Look {
  /** Only these, by axe's names; none named: all. */
  rules?: string[];
  /** Selectors of what is left out. */
  exclude?: string[];
}

/** A line for each place, at most three of one fault. What lies in frames is looked at where it is opened alone. */
export async function accessibilityFaults(page: Page, { rules = [], exclude = [] }: Look = {}): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source);
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
