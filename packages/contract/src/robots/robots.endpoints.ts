import { get, onSites, put } from '../endpoint.ts';
import { Robots, RobotsInput } from './robots.ts';

export const robots = onSites('robots', {
  get:    get('site/:siteId/firewall/robots', { can: 'firewall:read', reply: Robots }),
  update: put('site/:siteId/firewall/robots', { can: 'firewall:write', body: RobotsInput, reply: Robots }),
});
