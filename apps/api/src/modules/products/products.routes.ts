import { ownProducts, products } from '@edgeloom/contract/products/products.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './products.service.ts';

export const productsRoutes = routes(products, {
  list:   (ctx, { query }) => service.list(ctx, query),
  meta:   (ctx, { query }) => service.meta(ctx, query),
  get:    (ctx, { params }) => service.get(ctx, params.productID),
  create: (ctx, { body }) => service.create(ctx, body),
  update: (ctx, { body }) => service.update(ctx, body),
  remove: (ctx, { body }) => service.remove(ctx, body.ids),
});

export const ownProductsRoutes = routes(ownProducts, {
  list: (ctx, { query }) => service.listOwn(ctx, query),
});
