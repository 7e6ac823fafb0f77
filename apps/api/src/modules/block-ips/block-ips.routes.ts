import { blockIPs } from '@edgeloom/contract/block-ips/block-ips.endpoints.ts';
import { readOwnBlocks, removeOwnBlocks } from '../../core/own-blocks.ts';
import { routes } from '../../http/bind.ts';
import * as service from './block-ips.service.ts';
import { blockAtSite, exemptAtSite } from './list-entries.service.ts';

export const blockIPsRoutes = routes(blockIPs, {
  list:            (ctx, { query }) => service.list(ctx, query),
  remove:          (ctx, { body }) => service.remove(ctx, body),
  restore:         (ctx, { body }) => service.restore(ctx, body.ids),
  own:             (ctx) => readOwnBlocks(ctx),
  removeOwn:       (ctx) => removeOwnBlocks(ctx),
  ofSite:          (ctx, { params, query }) => service.list(ctx, { ...query, siteID: params.siteId }),
  removeOfSite:    (ctx, { params, body }) => service.remove(ctx, { ...body, siteID: params.siteId }),
  removeAllOfSite: (ctx, { params }) => service.remove(ctx, { all: true, siteID: params.siteId }),
  block:           (ctx, { params, body }) => blockAtSite(ctx, params.siteId, body),
  exempt:          (ctx, { params, body }) => exemptAtSite(ctx, params.siteId, body),
});
