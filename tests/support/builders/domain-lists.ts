// A site's list of domains in the console, which shows the features of every list.
import type { Page } from 'playwright-core';
import type { Consoles } from '../services/consoles.ts';
import { unique, type BuiltSite } from './build.ts';

interface DomainRow {
  name: string;
  enabled?: boolean;
  tags?: string[];
}
export const rowsOf = (count: number): DomainRow[] =>
  Array.from({ length: count }, (_, i) => ({ name: `${unique('h')}-${i}.example.com` }));

/** Inserts rows directly. */
export async function siteWith({ app }: Consoles, rows: readonly DomainRow[]): Promise<BuiltSite> {
  const site = await app.build.site();
  await app.installation.db.domain.createMany({
    data: rows.map(({ name, enabled = false, tags = [] }) => ({ siteId: site.id, name, enabled, tags })),
  });
  return site;
}

export const domainsOf = (site: BuiltSite, more = ''): string =>
  `sitesManagement/sitesSetting/${site.id}/x?view=domains${more}`;

export async function openList(consoles: Consoles, site: BuiltSite, more = '', expectedErrors?: RegExp): Promise<Page> {
  const { page } = await consoles.openAs(site.owner, domainsOf(site, more), {
    ...(expectedErrors && { expectedErrors }),
  });
  await page.locator('tbody td').first().waitFor();
  return page;
}

export const bulkActions = (page: Page) => page.getByRole('toolbar', { name: 'Actions for the selected rows' });
