import * as z from 'zod';
import { Enabling, Ids, Meta, MetaQuery, paged, paging } from '../common/common.ts';
import { MonitorJoinReply, MonitorJoinRequest } from '../edge/monitors.ts';
import { del, get, onClient, onRoot, post, put } from '../endpoint.ts';
import { JoinToken } from '../nodes/nodes.ts';
import { MonitorGroup, MonitorGroupInput, MonitorGroupUpdate, MonitorNode, MonitorNodeIDs, MonitorNodeInput, MonitorNodeUpdate, NewMonitorNode } from './monitors.ts';

const Page = paging(['name', 'ip', 'createdAt', 'updatedAt']);
const Query = Page.extend({ offline: z.boolean().optional().describe('Enabled, and has not reported for 20 seconds') });
const fails = ['DUPLICATED', 'LIMIT_REACHED'] as const;

export const monitorNodes = onClient('monitorNodes', {
  list:    get('monitor/nodes', { can: 'monitor:read', query: Query, reply: paged(MonitorNode) }),
  notInit: get('monitor/nodes/notInit', { can: 'monitor:read', query: Page, reply: paged(MonitorNode) }),
  meta:    get('monitor/metaMonitors', { can: 'monitor:read', query: MetaQuery, reply: Meta }),
  create:  post('monitor/nodes', { can: 'monitor:write', body: MonitorNodeInput, reply: NewMonitorNode, fails }),
  rejoin:  post('monitor/node/:monitorID/joinToken', { can: 'monitor:write', reply: JoinToken }),
  update:  put('monitor/node', { can: 'monitor:write', body: MonitorNodeUpdate, reply: MonitorNode, fails }),
  enable:  put('monitor/nodes/enableStatus', { can: 'monitor:write', body: Enabling, reply: Ids }),
  remove:  del('monitor/nodes', { can: 'monitor:write', body: Ids, reply: Ids, fails: ['STILL_ENABLED'] }),
});

export const monitorGroups = onClient('monitorGroups', {
  list:        get('monitor/groups', { can: 'monitor:read', query: paging(['name', 'createdAt', 'updatedAt']), reply: paged(MonitorGroup) }),
  meta:        get('monitor/metaGroups', { can: 'monitor:read', query: MetaQuery, reply: Meta }),
  create:      post('monitor/groups', { can: 'monitor:write', body: MonitorGroupInput, reply: MonitorGroup, fails }),
  update:      put('monitor/group', { can: 'monitor:write', body: MonitorGroupUpdate, reply: MonitorGroup, fails }),
  remove:      del('monitor/groups', { can: 'monitor:write', body: Ids, reply: Ids }),
  nodes:       get('monitor/group/:groupID/nodes', { can: 'monitor:read', reply: paged(MonitorNode) }),
  addNodes:    post('monitor/group/:groupID/nodes', { can: 'monitor:write', body: MonitorNodeIDs, reply: MonitorGroup, fails: ['LIMIT_REACHED'] }),
  removeNodes: del('monitor/group/:groupID/nodes', { can: 'monitor:write', body: MonitorNodeIDs, reply: MonitorGroup }),
});

/** Called by the agent in its monitor role. The token in the body authorizes the call. */
export const monitorJoin = onRoot('monitorJoin', {
  join: post('monitor/join', { can: 'anyone', body: MonitorJoinRequest.loose(), reply: MonitorJoinReply, fails: ['INVALID_TOKEN'] }),
});
