import { nodeJoin, nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { routes } from '../../http/bind.ts';
import { join } from '../../node-link/join.ts';
import * as orders from './node-orders.service.ts';
import * as service from './nodes.service.ts';

export const nodesRoutes = routes(nodes, {
  list:          (ctx, { query }) => service.list(ctx, query),
  initialized:   (ctx, { query }) => service.list(ctx, { ...query, initialized: true }),
  uninitialized: (ctx, { query }) => service.list(ctx, { ...query, initialized: false }),
  listInZone:    (ctx, { params, query }) => service.listInZone(ctx, params.zoneId, query),
  meta:          (ctx, { query }) => service.meta(ctx, query),
  counts:        (ctx) => service.counts(ctx),
  get:           (ctx, { params }) => service.get(ctx, params.nodeID),
  config:        (ctx, { params }) => service.config(ctx, params.nodeID),
  unreadableLines: (ctx, { params }) => service.unreadableLines(ctx, params.nodeID),
  running:       (ctx, { params }) => orders.running(ctx, params.nodeID),
  system:        (ctx, { params }) => orders.system(ctx, params.nodeID),
  subs:          (ctx, { params, query }) => service.subs(ctx, params.nodeID, query),
  addSubs:       (ctx, { params, body }) => service.addSubs(ctx, params.nodeID, body.ids),
  removeSubs:    (ctx, { params, body }) => service.removeSubs(ctx, params.nodeID, body.ids),
  create:        (ctx, { body }) => service.create(ctx, body),
  rejoin:        (ctx, { params }) => service.rejoin(ctx, params.nodeID),
  update:        (ctx, { body }) => service.update(ctx, body),
  status:        (ctx, { body }) => service.setEnabled(ctx, body.ids, body.enabled, body.drainSeconds),
  role:          (ctx, { body }) => service.setRole(ctx, body.ids, body.role),
  memo:          (ctx, { body }) => service.setMemo(ctx, body.id, body.memo),
  geneva:        (ctx, { body: { ids, ...geneva } }) => service.setGeneva(ctx, ids, geneva),
  monitor:       (ctx, { body: { ids, ...monitor } }) => service.setMonitor(ctx, ids, monitor),
  logRotateTime: (ctx, { body }) => service.setLogRotateTime(ctx, body.ids, body.seconds),
  logRotate:     (ctx, { body }) => orders.rotateLogs(ctx, body.ids),
  reboot:        (ctx, { body }) => orders.reboot(ctx, body.ids),
  reset:         (ctx, { body }) => orders.reset(ctx, body.ids),
  currentCache:  (ctx, { body }) => orders.clearCache(ctx, body.ids),
  cache:         (ctx, { body }) => orders.purge(ctx, body),
  moveToZone:    (ctx, { body }) => orders.moveToZone(ctx, body.ids, body.zoneID),
  remove:        (ctx, { body }) => service.remove(ctx, body.ids),
});

export const nodeJoinRoutes = routes(nodeJoin, {
  join: (ctx, { body }) => join(ctx.installation, body, ctx.now()),
});
