import { crawlers } from '@edgeloom/contract/crawlers/crawlers.endpoints.ts';
import { routes } from '../../http/bind.ts';
import { readCrawlers, writeCrawlers } from './crawlers.service.ts';

export const crawlersRoutes = routes(crawlers, {
  get:    (ctx, { params }) => readCrawlers(ctx, params.siteId),
  update: (ctx, { params, body }) => writeCrawlers(ctx, params.siteId, body),
});
