import { antiCCs } from '@edgeloom/contract/site-anti-cc/site-anti-cc.endpoints.ts';
import { onSite } from '../../core/rule-list.ts';
import { routes } from '../../http/bind.ts';
import * as service from './site-anti-cc.service.ts';

export const antiCCsRoutes = routes(antiCCs, {
  options: (ctx, { params }) => service.options(ctx, params.siteId),
  list:    (ctx, { params }) => service.antiCCs.list(ctx, onSite(params)),
  create:  (ctx, { params, body }) => service.antiCCs.create(ctx, onSite(params), body.items),
  update:  (ctx, { params, body }) => service.antiCCs.update(ctx, onSite(params), body.items),
  remove:  (ctx, { params, body }) => service.antiCCs.remove(ctx, onSite(params), body.ids),
});
