import { onSites, post } from '../endpoint.ts';
import { SimulateInput, Simulation } from './simulate.ts';

/** Needs read permission for all settings that the result reveals. */
export const simulate = onSites('simulate', {
  run: post('site/:siteId/simulate', { can: 'site:read', limit: 'write', body: SimulateInput, reply: Simulation, fails: ['NODE_UNREACHABLE', 'NODE_VERSION_MISMATCH', 'INVALID_NODE_TIME', 'PERMISSION_DENIED', 'BUSY', 'TOO_LARGE'] }),
});
