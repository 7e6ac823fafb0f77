import { onSites, post } from '../endpoint.ts';
import { Replay, ReplayInput } from './replay.ts';
import { SimulateInput, Simulation } from './simulate.ts';

/** Both need read permission for all settings that the result reveals, and the replay also for the logs. */
export const simulate = onSites('simulate', {
  run: post('site/:siteId/simulate', { can: 'site:read', limit: 'write', body: SimulateInput, reply: Simulation, fails: ['NODE_UNREACHABLE', 'NODE_VERSION_MISMATCH', 'INVALID_NODE_TIME', 'PERMISSION_DENIED', 'BUSY', 'TOO_LARGE'] }),
  replay: post('site/:siteId/replay', { can: 'site:read', limit: 'write', body: ReplayInput, reply: Replay, fails: ['NODE_UNREACHABLE', 'NODE_VERSION_MISMATCH', 'INVALID_NODE_TIME', 'PERMISSION_DENIED', 'BUSY', 'TOO_LARGE'] }),
});
