import { get, onSites, put } from '../endpoint.ts';
import { Crawlers, CrawlersInput } from './crawlers.ts';

export const crawlers = onSites('crawlers', {
  get:    get('site/:siteId/firewall/crawlers', { can: 'firewall:read', reply: Crawlers }),
  update: put('site/:siteId/firewall/crawlers', { can: 'firewall:write', body: CrawlersInput, reply: Crawlers }),
});
