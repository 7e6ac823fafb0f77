import * as z from 'zod';
import { Enabling, Id, Ids, Memo, Meta, MetaQuery, paged, paging } from '../common/common.ts';
import { JoinReply, JoinRequest } from '../edge/messages.ts';
import { del, get, onClient, onRoot, post, put } from '../endpoint.ts';
import { EdgeNode, Geneva, Installed, JoinToken, NodeInput, NodeKind, NodePortType, NodePurge, NodeRole, NodeStatus, NodeSystem, NodeType, NodeUpdate, NodesMonitorInput, Running, UnreadableLines } from './nodes.ts';

const Narrow = {
  search: z.string().max(256).optional().describe('In names, addresses and memos'),
  name: z.string().max(256).optional(),
  ip: z.string().max(64).optional(),
  status: z.array(NodeStatus).optional(),
  type: NodeType.optional().describe('Left out: normal'),
  kind: NodeKind.optional(),
  forceBackup: z.boolean().optional(),
  behind: z.boolean().optional().describe('Lacks a revision that was published more than a minute ago'),
  jobFailed: z.boolean().optional().describe('Its installation, removal or upgrade failed within the last 24 hours'),
  logsLost: z.boolean().optional().describe('It deleted access log lines unsent within the last 24 hours, for lack of room'),
  failingMonitors: z.boolean().optional().describe("The verdict of its zone's monitors is an error"),
  role: NodeRole.optional(),
  portType: NodePortType.optional(),
};
/** `severity`: rejected, offline, disconnected, behind, then the others; by name within each. */
const Page = paging(['severity', 'name', 'createdAt', 'updatedAt', 'ip', 'role', 'portType', 'bandwidthMbps'], 10).extend(Narrow);
const InZone = Page.extend({ zoneID: Id.optional(), groupID: Id.optional() });
const Seconds = z.int().max(31_536_000);
/** Errors of commands to a node. */
const asks = ['NODE_UNREACHABLE', 'NODE_VERSION_MISMATCH', 'INVALID_NODE_TIME'] as const;

export const nodes = onClient('nodes', {
  list:          get('nodes', { can: 'node:read', query: InZone.extend({ initialized: z.boolean().optional() }), reply: paged(EdgeNode) }),
  initialized:   get('nodes/initialized', { can: 'node:read', query: InZone, reply: paged(EdgeNode) }),
  uninitialized: get('nodes/uninitialized', { can: 'node:read', query: InZone, reply: paged(EdgeNode) }),
  listInZone:    get('zone/:zoneId/nodes', { can: 'node:read', query: Page, reply: paged(EdgeNode) }),
  meta:          get('metaNodes', { can: 'node:read', query: MetaQuery.extend({ zoneID: Id.optional(), standalone: z.boolean().optional().describe('Whether it neither is nor has a sub-node') }), reply: Meta }),
  counts:        get('nodes/counts', { can: 'node:read', reply: z.object({ data: z.array(z.object({ status: NodeStatus, count: z.int() })), total: z.int() }) }),
  get:           get('node/:nodeID', { can: 'node:read', reply: EdgeNode }),
  config:        get('node/:nodeID/config', { can: 'node:read', reply: Installed }),
  unreadableLines: get('node/:nodeID/unreadableLines', { can: 'log:read', reply: UnreadableLines }),
  running:       get('node/:nodeID/running', { can: 'node:read', reply: Running, fails: asks }),
  system:        get('node/:nodeID/system', { can: 'node:read', reply: NodeSystem, fails: asks }),
  subs:          get('node/:nodeID/subs', { can: 'node:read', query: Page, reply: paged(EdgeNode) }),
  addSubs:       post('node/:nodeID/subs', { can: 'node:write', body: Ids, reply: Ids }),
  removeSubs:    del('node/:nodeID/subs', { can: 'node:write', body: Ids, reply: Ids }),
  create:        post('node', { can: 'node:write', body: NodeInput, reply: EdgeNode.extend(JoinToken.shape), fails: ['NODE_LIMIT', 'LICENSE_EXPIRED', 'DUPLICATED', 'ILLEGAL_PORT_TYPE'] }),
  rejoin:        post('node/:nodeID/joinToken', { can: 'node:write', reply: JoinToken }),
  update:        put('node', { can: 'node:write', body: NodeUpdate, reply: EdgeNode, fails: ['DUPLICATED', 'ILLEGAL_PORT_TYPE', 'PORT_TYPE_4_IN_USE'] }),
  status:        put('node/status', { can: 'node:write', body: Enabling.extend({ drainSeconds: Seconds.min(0).default(0).describe('Switched off, it goes on serving for so long') }), reply: Ids }),
  role:          put('node/role', { can: 'node:write', body: Ids.extend({ role: NodeRole }), reply: Ids }),
  memo:          put('node/memo', { can: 'node:write', body: z.object({ id: Id, memo: Memo }), reply: EdgeNode }),
  geneva:        put('node/geneva', { can: 'node:write', body: Ids.extend(Geneva.shape), reply: Ids }),
  monitor:       put('node/monitor', { can: 'node:write', body: NodesMonitorInput, reply: Ids }),
  logRotateTime: put('node/logRotateTime', { can: 'node:write', body: Ids.extend({ seconds: z.union([z.literal(0), Seconds.min(60)]).describe('0: none') }), reply: Ids }),
  logRotate:     post('node/logRotate', { can: 'node:write', body: Ids, reply: Ids, fails: asks }),
  reboot:        post('node/reboot', { can: 'node:write', body: Ids, reply: Ids, fails: asks }),
  reset:         post('node/reset', { can: 'node:write', body: Ids, reply: Ids, fails: asks }),
  currentCache:  del('node/currentCache', { can: 'node:write', body: Ids, reply: Ids, fails: asks }),
  cache:         del('node/cache', { can: 'node:write', body: NodePurge, reply: Ids, fails: asks }),
  moveToZone:    put('node/moveToZone', { can: 'node:write', body: Ids.extend({ zoneID: Id }), reply: Ids, fails: [...asks, 'DUPLICATED', 'NODE_IN_GROUP', 'NODE_IN_VIRTUAL_NODE'] }),
  remove:        del('nodes', { can: 'node:write', body: Ids, reply: Ids, fails: ['STILL_ENABLED', 'NODE_IN_GROUP', 'NODE_IN_VIRTUAL_NODE'] }),
});

/** Called by the agent. The token in the body authorizes the call. Newer agents may send unknown fields. */
export const nodeJoin = onRoot('nodeJoin', {
  join: post('node/join', { can: 'anyone', body: JoinRequest.loose(), reply: JoinReply, fails: ['INVALID_TOKEN', 'NODE_VERSION_MISMATCH'] }),
});
