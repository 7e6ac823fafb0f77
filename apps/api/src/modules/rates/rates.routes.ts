import { rates } from '@edgeloom/contract/rates/rates.endpoints.ts';
import { onSite } from '../../core/rule-list.ts';
import { routes } from '../../http/bind.ts';
import * as service from './rates.service.ts';

export const ratesRoutes = routes(rates, {
  list:   (ctx, { params }) => service.rates.list(ctx, onSite(params)),
  create: (ctx, { params, body }) => service.rates.create(ctx, onSite(params), body.rates),
  update: (ctx, { params, body }) => service.rates.update(ctx, onSite(params), body.rates),
  remove: (ctx, { params, body }) => service.rates.remove(ctx, onSite(params), body.ids),
});
