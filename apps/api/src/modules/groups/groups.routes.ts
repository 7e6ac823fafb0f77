import { groups } from '@edgeloom/contract/groups/groups.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as boards from './board.service.ts';
import * as service from './groups.service.ts';
import * as members from './members.service.ts';

export const groupsRoutes = routes(groups, {
  list:   (ctx, { params, query }) => service.list(ctx, params.zoneId, query),
  meta:   (ctx, { params, query }) => service.meta(ctx, params.zoneId, query),
  create: (ctx, { params, body }) => service.create(ctx, params.zoneId, body),
  update: (ctx, { params, body }) => service.update(ctx, params.zoneId, body),
  remove: (ctx, { params, body }) => service.remove(ctx, params.zoneId, body.ids),
  forceBackup: (ctx, { params, body }) => service.forceBackup(ctx, params.zoneId, params.groupId, body.enabled),
  lines:  (ctx, { params }) => boards.lines(ctx, params.zoneId, params.groupId),
  addNodes:           (ctx, { params, body }) => members.put(ctx, params, body.nodeUIDs, body.weight, 'n'),
  removeNodes:        (ctx, { params, body }) => members.take(ctx, params, body.nodeUIDs, 'n'),
  addVirtualNodes:    (ctx, { params, body }) => members.put(ctx, params, body.nodeUIDs, body.weight, 'v'),
  removeVirtualNodes: (ctx, { params, body }) => members.take(ctx, params, body.nodeUIDs, 'v'),
  nodeNums: (ctx, { query }) => boards.nodeNums(ctx, query),
  board:      (ctx, { params }) => boards.board(ctx, params.zoneId),
  place:      async (ctx, { params, body }) => {
    await members.placeAll(ctx, params.zoneId, body.changes);
    return boards.board(ctx, params.zoneId);
  },
  resolution: (ctx, { params, body }) => boards.resolution(ctx, params.zoneId, body),
  ofProduct:  (ctx, { params }) => service.ofProduct(ctx, params.id),
  ofNode:     (ctx, { params }) => service.ofNode(ctx, params.nodeID),
});
