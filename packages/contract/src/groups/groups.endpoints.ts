import * as z from 'zod';
import { Id, Ids, Meta, MetaQuery, paged, paging } from '../common/common.ts';
import { del, get, onClient, patch, post, put } from '../endpoint.ts';
import { Line } from '../dns-setting/lines.ts';
import { Board, Group, GroupInput, GroupLine, GroupUpdate, Members, MembersInput, Place, Placements, Resolution, ResolutionInput } from './groups.ts';

const Sorted = paging(['priority', 'name', 'createdAt', 'updatedAt']);
const line = { params: { line: Line } } as const;

export const groups = onClient('groups', {
  list:   get('zone/:zoneId/groups', { can: 'group:read', query: Sorted.extend({ name: z.string().max(256).optional() }), reply: paged(Group) }),
  meta:   get('zone/:zoneId/metaGroups', { can: 'group:read', query: MetaQuery, reply: Meta }),
  create: post('zone/:zoneId/group', { can: 'group:write', body: GroupInput, reply: Group, fails: ['DUPLICATED', 'LIMIT_REACHED'] }),
  update: patch('zone/:zoneId/group', { can: 'group:write', body: GroupUpdate, reply: Group, fails: ['DUPLICATED', 'STILL_IN_USE'] }),
  remove: del('zone/:zoneId/group', { can: 'group:write', body: Ids, reply: Ids, fails: ['GROUP_ACTIVE', 'GROUP_SITES_IN_USE'] }),
  forceBackup: put('zone/:zoneId/group/:groupId/forceBackup', { can: 'group:write', body: z.object({ enabled: z.boolean() }), reply: Group }),
  lines:  get('zone/:zoneId/group/:groupId/lines', { can: 'group:read', reply: z.object({ data: z.array(GroupLine) }) }),
  addNodes:           post('zone/:zoneId/group/:groupId/line/:line/nodes', { can: 'group:write', ...line, body: MembersInput, reply: Members, fails: ['GROUP_NODE_LIMIT', 'INVALID_GROUP_NODE'] }),
  removeNodes:        del('zone/:zoneId/group/:groupId/line/:line/nodes', { can: 'group:write', ...line, body: Members, reply: Members, fails: ['INVALID_GROUP_NODE', 'LAYER_4_GROUP_IN_USE'] }),
  addVirtualNodes:    post('zone/:zoneId/group/:groupId/line/:line/virtualNodes', { can: 'group:write', ...line, body: MembersInput, reply: Members, fails: ['GROUP_NODE_LIMIT', 'INVALID_GROUP_NODE'] }),
  removeVirtualNodes: del('zone/:zoneId/group/:groupId/line/:line/virtualNodes', { can: 'group:write', ...line, body: Members, reply: Members, fails: ['INVALID_GROUP_NODE', 'LAYER_4_GROUP_IN_USE'] }),
  nodeNums: get('lines/nodeNums', { can: 'group:read', query: z.object({ zoneID: Id.optional(), groupID: Id.optional() }), reply: z.object({ data: z.array(z.object({ line: Line, count: z.int() })) }) }),
  board:      get('zone/:zoneId/board', { can: 'group:read', reply: Board }),
  place:      put('zone/:zoneId/board', { can: 'group:write', body: Placements, reply: Board, fails: ['GROUP_NODE_LIMIT', 'INVALID_GROUP_NODE', 'LAYER_4_GROUP_IN_USE'] }),
  resolution: post('zone/:zoneId/resolution', { can: 'group:read', body: ResolutionInput, reply: Resolution, fails: ['GROUP_NODE_LIMIT', 'INVALID_GROUP_NODE'] }),
  ofProduct:  get('product/:id/groups', { can: 'product:read', reply: z.object({ data: z.array(Group) }) }),
  ofNode:     get('node/:nodeID/groups', { can: 'node:read', reply: z.object({ data: z.array(Place) }) }),
});
