import { virtualNodes, virtualRecords } from '@edgeloom/contract/virtual-nodes/virtual-nodes.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './virtual-nodes.service.ts';

export const virtualNodesRoutes = routes(virtualNodes, {
  list:   (ctx, { params, query }) => service.list(ctx, params.zoneId, query),
  create: (ctx, { params, body }) => service.create(ctx, params.zoneId, body),
  update: (ctx, { params, body }) => service.update(ctx, params.zoneId, body),
  remove: (ctx, { params, body }) => service.remove(ctx, params.zoneId, body.ids),
});

export const virtualRecordsRoutes = routes(virtualRecords, {
  list:        (ctx, { params }) => service.records(ctx, params.zoneId, params.vnodeId),
  createCname: (ctx, { params, body }) => service.addCname(ctx, params.zoneId, params.vnodeId, body.cname),
  updateCname: (ctx, { params, body }) => service.setEnabled(ctx, params.zoneId, params.vnodeId, 'cname', body),
  removeCname: (ctx, { params, body }) => service.removeRecords(ctx, params.zoneId, params.vnodeId, 'cname', body.ids),
  createNode:  (ctx, { params, body }) => service.addNode(ctx, params.zoneId, params.vnodeId, body),
  updateNode:  (ctx, { params, body }) => service.setEnabled(ctx, params.zoneId, params.vnodeId, 'node', body),
  removeNode:  (ctx, { params, body }) => service.removeRecords(ctx, params.zoneId, params.vnodeId, 'node', body.ids),
});
