import * as z from 'zod';
import { Id, paged, paging } from '../common/common.ts';
import { get, onClient, post } from '../endpoint.ts';
import { LatestVersions, Rollout, RolloutAction, RolloutActionInput, RolloutDetail, RolloutEvent, RolloutKind, RolloutLine, RolloutState, UpgradeInput, UpgradeLog } from './rollouts.ts';

const Page = paging(['createdAt']).extend({ zoneID: Id.optional(), kind: RolloutKind.optional(), state: z.array(RolloutState).max(6).optional(), stopped: z.boolean().optional().describe('Paused, rolling back, or rolled back by a gate within the last 24 hours') });

export const rollouts = onClient('rollouts', {
  list:   get('rollouts', { can: 'upgrade:read', query: Page, reply: paged(Rollout) }),
  get:    get('rollout/:id', { can: 'upgrade:read', reply: RolloutDetail }),
  lines:  get('rollout/:id/lines', { can: 'upgrade:read', query: paging(['at']), reply: paged(RolloutLine) }),
  events: get('rollout/:id/events', { can: 'upgrade:read', reply: RolloutEvent, answers: 'text/event-stream' }),
  act:    post('rollout/:id/:action', { can: 'upgrade:write', params: { action: RolloutAction }, body: RolloutActionInput, reply: RolloutDetail, fails: ['BUSY'] }),
});

export const upgrades = onClient('upgrades', {
  latest: get('node/latestVersion', { can: 'upgrade:read', reply: LatestVersions }),
  begin:  post('node/upgrade', { can: 'upgrade:write', body: UpgradeInput, reply: RolloutDetail, fails: ['MULTIPLE', 'NODE_UNREACHABLE', 'NODE_VERSION_MISMATCH', 'BUSY'] }),
  logs:   get('node/:nodeID/upgrade/logs', { can: 'upgrade:read', query: paging(['at']), reply: paged(UpgradeLog) }),
});
