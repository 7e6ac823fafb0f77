import { roles } from '@edgeloom/contract/roles/roles.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './roles.service.ts';

export const rolesRoutes = routes(roles, {
  list:        (ctx, { query }) => service.list(ctx, query),
  meta:        (ctx, { query }) => service.meta(ctx, query),
  permissions: (ctx) => service.catalogue(ctx),
  create:      (ctx, { body }) => service.create(ctx, body),
  update:      (ctx, { params, body }) => service.update(ctx, params.id, body),
  remove:      (ctx, { params }) => service.remove(ctx, params.id),
  assign:      (ctx, { body }) => service.assign(ctx, body),
});
