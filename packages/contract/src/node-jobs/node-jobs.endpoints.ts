import * as z from 'zod';
import { Id, Ids, paged, paging } from '../common/common.ts';
import { get, onClient, post } from '../endpoint.ts';
import { HostKey, HostKeyInput, InitializeInput, NodeJob, NodeJobEvent, NodeJobsStarted } from './node-jobs.ts';

const nodesOnly = Ids.extend({ ids: z.array(Id).min(1).max(100) });

export const nodeJobs = onClient('nodeJobs', {
  hostKey:    post('node/hostKey', { can: 'node:write', limit: 'probe', body: HostKeyInput, reply: HostKey, fails: ['NODE_UNREACHABLE'] }),
  initialize: post('nodes/initialize', { can: 'node:write', body: InitializeInput, reply: NodeJobsStarted, fails: ['MULTIPLE', 'LICENSE_EXPIRED'] }),
  uninstall:  post('nodes/uninstall', { can: 'node:write', body: nodesOnly, reply: NodeJobsStarted, fails: ['MULTIPLE', 'STILL_ENABLED'] }),
  info:       get('node-info', { can: 'node:read', query: z.object({ nodeID: Id.optional() }), answers: 'text/plain' }),
  list:       get('node/:nodeID/jobs', { can: 'node:read', query: paging(['createdAt']), reply: paged(NodeJob.omit({ steps: true })) }),
  get:        get('node/:nodeID/job/:jobID', { can: 'node:read', reply: NodeJob }),
  events:     get('node/:nodeID/job/:jobID/events', { can: 'node:read', reply: NodeJobEvent, answers: 'text/event-stream' }),
  retry:      post('node/:nodeID/job/:jobID/retry', { can: 'node:write', reply: NodeJob, fails: ['BUSY'] }),
  cancel:     post('node/:nodeID/job/:jobID/cancel', { can: 'node:write', reply: NodeJob, fails: ['BUSY'] }),
});
