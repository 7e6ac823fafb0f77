import * as z from 'zod';
import { Enabling, Id, Ids, Meta, paged, paging } from '../common/common.ts';
import { JoinReply, JoinRequest } from '../edge/messages.ts';
import { del, get, onClient, onRoot, post, put } from '../endpoint.ts';
import { EdgeNode, Installed, JoinToken, NodeInput, NodeStatus, NodeUpdate } from './nodes.ts';

const Filter = { zoneID: Id.optional(), name: z.string().max(256).optional(), ip: z.string().max(64).optional(), status: z.array(NodeStatus).optional(), initialized: z.boolean().optional() };
const Page = paging(['name', 'createdAt', 'updatedAt', 'ip'], 10);

export const nodes = onClient('nodes', {
  list:       get('nodes', { can: 'node:read', query: Page.extend(Filter), reply: paged(EdgeNode) }),
  listInZone: get('zone/:zoneId/nodes', { can: 'node:read', query: Page, reply: paged(EdgeNode) }),
  meta:       get('metaNodes', { can: 'node:read', query: z.object({ zoneID: Id.optional() }), reply: Meta }),
  get:        get('node/:nodeID', { can: 'node:read', reply: EdgeNode }),
  config:     get('node/:nodeID/config', { can: 'node:read', reply: Installed }),
  create:     post('node', { can: 'node:write', body: NodeInput, reply: EdgeNode.extend(JoinToken.shape), fails: ['NODE_LIMIT', 'LICENSE_EXPIRED', 'DUPLICATED'] }),
  rejoin:     post('node/:nodeID/joinToken', { can: 'node:write', reply: JoinToken }),
  update:     put('node', { can: 'node:write', body: NodeUpdate, reply: EdgeNode, fails: ['DUPLICATED'] }),
  status:     put('node/status', { can: 'node:write', body: Enabling, reply: Ids }),
  reset:      post('node/reset', { can: 'node:write', body: Ids, reply: Ids, fails: ['NODE_UNREACHABLE'] }),
  remove:     del('nodes', { can: 'node:write', body: Ids, reply: Ids, fails: ['STILL_ENABLED', 'NODE_IN_GROUP', 'NODE_IN_VIRTUAL_NODE'] }),
});

/** Called by the agent itself; the token in the body is the proof. */
export const nodeJoin = onRoot('nodeJoin', {
  join: post('node/join', { can: 'anyone', body: JoinRequest, reply: JoinReply, fails: ['INVALID_TOKEN'] }),
});
