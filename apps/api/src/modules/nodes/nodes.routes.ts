import { nodeJoin, nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { routes } from '../../http/bind.ts';
import { join } from '../../node-link/join.ts';
import * as service from './nodes.service.ts';

export const nodesRoutes = routes(nodes, {
  list:       (ctx, { query }) => service.list(ctx, query),
  listInZone: (ctx, { params, query }) => service.listInZone(ctx, params.zoneId, query),
  meta:       (ctx, { query }) => service.meta(ctx, query.zoneID),
  get:        (ctx, { params }) => service.get(ctx, params.nodeID),
  config:     (ctx, { params }) => service.config(ctx, params.nodeID),
  create:     (ctx, { body }) => service.create(ctx, body),
  rejoin:     (ctx, { params }) => service.rejoin(ctx, params.nodeID),
  update:     (ctx, { body }) => service.update(ctx, body),
  status:     (ctx, { body }) => service.setEnabled(ctx, body.ids, body.enabled),
  reset:      (ctx, { body }) => service.reset(ctx, body.ids),
  remove:     (ctx, { body }) => service.remove(ctx, body.ids),
});

export const nodeJoinRoutes = routes(nodeJoin, {
  join: (ctx, { body }) => join(ctx.installation, body, ctx.now()),
});
