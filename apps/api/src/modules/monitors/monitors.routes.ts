import { monitorGroups, monitorJoin, monitorNodes } from '@edgeloom/contract/monitors/monitors.endpoints.ts';
import { routes } from '../../http/bind.ts';
import { joinMonitor } from '../../monitors/join.ts';
import * as groups from './monitor-groups.service.ts';
import * as nodes from './monitor-nodes.service.ts';

export const monitorNodesRoutes = routes(monitorNodes, {
  list:    (ctx, { query }) => nodes.listAll(ctx, query),
  notInit: (ctx, { query }) => nodes.list(ctx, query, { joinedAt: null }),
  meta:    (ctx, { query }) => nodes.meta(ctx, query),
  create:  (ctx, { body }) => nodes.create(ctx, body),
  rejoin:  (ctx, { params }) => nodes.rejoin(ctx, params.monitorID),
  update:  (ctx, { body }) => nodes.update(ctx, body),
  enable:  (ctx, { body }) => nodes.setEnabled(ctx, body.ids, body.enabled),
  remove:  (ctx, { body }) => nodes.remove(ctx, body.ids),
});

export const monitorGroupsRoutes = routes(monitorGroups, {
  list:        (ctx, { query }) => groups.list(ctx, query),
  meta:        (ctx, { query }) => groups.meta(ctx, query),
  create:      (ctx, { body }) => groups.create(ctx, body),
  update:      (ctx, { body }) => groups.update(ctx, body),
  remove:      (ctx, { body }) => groups.remove(ctx, body.ids),
  nodes:       (ctx, { params }) => nodes.listOfGroup(ctx, params.groupID),
  addNodes:    (ctx, { params, body }) => groups.addNodes(ctx, params.groupID, body.nodeIDs),
  removeNodes: (ctx, { params, body }) => groups.removeNodes(ctx, params.groupID, body.nodeIDs),
});

export const monitorJoinRoutes = routes(monitorJoin, {
  join: (ctx, { body }) => joinMonitor(ctx.installation, body, ctx.now()),
});
