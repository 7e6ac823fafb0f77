import * as z from 'zod';
import { Ids, paged, paging } from '../common/common.ts';
import { del, get, onClient, post, put } from '../endpoint.ts';
import { CnameInput, NodeRecordInput, RecordUpdate, VirtualNode, VirtualNodeInput, VirtualNodeUpdate, VirtualRecord } from './virtual-nodes.ts';

const Sorted = paging(['name', 'createdAt', 'updatedAt']);

export const virtualNodes = onClient('virtualNodes', {
  list:    get('zone/:zoneId/virtualNodes', { can: 'group:read', query: Sorted.extend({ name: z.string().max(256).optional() }), reply: paged(VirtualNode) }),
  create:  post('zone/:zoneId/virtualNode', { can: 'group:write', body: VirtualNodeInput, reply: VirtualNode, fails: ['DUPLICATED', 'LIMIT_REACHED'] }),
  update:  put('zone/:zoneId/virtualNode', { can: 'group:write', body: VirtualNodeUpdate, reply: VirtualNode, fails: ['DUPLICATED'] }),
  remove:  del('zone/:zoneId/virtualNode', { can: 'group:write', body: Ids, reply: Ids, fails: ['VIRTUAL_NODE_IN_USE'] }),
});

export const virtualRecords = onClient('virtualRecords', {
  list:        get('zone/:zoneId/virtualNode/:vnodeId/records', { can: 'group:read', reply: z.object({ data: z.array(VirtualRecord) }) }),
  createCname: post('zone/:zoneId/virtualNode/:vnodeId/cname', { can: 'group:write', body: CnameInput, reply: VirtualRecord, fails: ['DUPLICATED', 'LIMIT_REACHED'] }),
  updateCname: put('zone/:zoneId/virtualNode/:vnodeId/cname', { can: 'group:write', body: RecordUpdate, reply: VirtualRecord }),
  removeCname: del('zone/:zoneId/virtualNode/:vnodeId/cname', { can: 'group:write', body: Ids, reply: Ids, fails: ['STILL_ENABLED'] }),
  createNode:  post('zone/:zoneId/virtualNode/:vnodeId/node', { can: 'group:write', body: NodeRecordInput, reply: VirtualRecord, fails: ['DUPLICATED', 'LIMIT_REACHED'] }),
  updateNode:  put('zone/:zoneId/virtualNode/:vnodeId/node', { can: 'group:write', body: RecordUpdate, reply: VirtualRecord }),
  removeNode:  del('zone/:zoneId/virtualNode/:vnodeId/node', { can: 'group:write', body: Ids, reply: Ids, fails: ['STILL_ENABLED'] }),
});
