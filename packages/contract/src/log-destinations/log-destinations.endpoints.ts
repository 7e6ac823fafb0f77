import * as z from 'zod';
import { Enabling, Ids } from '../common/common.ts';
import { del, get, onSites, post, put } from '../endpoint.ts';
import { LogDestination, LogDestinationInput, LogDestinationTest, LogDestinationUpdate } from './log-destinations.ts';

export const logDestinations = onSites('logDestinations', {
  list:   get('site/:siteId/log/destinations', { can: 'log:read', reply: z.object({ data: z.array(LogDestination) }) }),
  create: post('site/:siteId/log/destination', { can: 'log:write', body: LogDestinationInput, reply: LogDestination, fails: ['LIMIT_REACHED'] }),
  update: put('site/:siteId/log/destination', { can: 'log:write', body: LogDestinationUpdate, reply: LogDestination }),
  enable: put('site/:siteId/log/destination/enable', { can: 'log:write', body: Enabling, reply: Ids }),
  remove: del('site/:siteId/log/destinations', { can: 'log:write', body: Ids, reply: Ids }),
  test:   post('site/:siteId/log/destination/:destinationID/test', { can: 'log:write', limit: 'probe', reply: LogDestinationTest }),
});
