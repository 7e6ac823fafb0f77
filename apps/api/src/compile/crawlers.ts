import type { CrawlerAction, CrawlerCategory } from '@edgeloom/contract/crawlers/crawlers.ts';
import type { SiteDoc } from '@edgeloom/contract/edge/documents.ts';

interface CrawlerRow {
  id: string;
  category: CrawlerCategory;
  action: CrawlerAction;
  perMinute: number;
  monitor: boolean;
}

/** Rules that do something. */
export const crawlerDocs = (rows: readonly CrawlerRow[]): Partial<SiteDoc> => ({
  crawlers: rows.flatMap(({ id, category, action, perMinute, monitor }) =>
    action === 'allow'
      ? []
      : { id, category, action, ...(action === 'limit' && { perMinute }), ...(monitor && { monitor }) },
  ),
});
