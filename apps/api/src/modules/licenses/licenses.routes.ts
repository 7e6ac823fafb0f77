import { licenseOffers, licenses, operatorLicenses } from '@edgeloom/contract/licenses/licenses.endpoints.ts';
import { readLicense } from '../../core/license.ts';
import { routes } from '../../http/bind.ts';
import * as offers from './license-offers.service.ts';
import * as orders from './license-orders.service.ts';
import { listOperatorLicenses } from './operator-licenses.ts';

export const licensesRoutes = routes(licenses, {
  own: ({ installation, actor }) => readLicense(installation, actor.clientId),
});

export const licenseOffersRoutes = routes(licenseOffers, {
  list:   (ctx, { query }) => offers.list(ctx, query),
  create: (ctx, { body }) => offers.create(ctx, body),
  update: (ctx, { body }) => offers.update(ctx, body),
  remove: (ctx, { body }) => offers.remove(ctx, body.ids),
  issue:  (ctx, { body }) => orders.issue(ctx, body),
});

export const operatorLicensesRoutes = routes(operatorLicenses, {
  list:   (ctx, { query }) => listOperatorLicenses(ctx, query),
  get:    (ctx, { params }) => orders.get(ctx, params.userId),
  orders: (ctx, { params, query }) => orders.list(ctx, params.userId, query),
  update: (ctx, { params, body }) => orders.update(ctx, params.userId, body.licenseSetting),
});
