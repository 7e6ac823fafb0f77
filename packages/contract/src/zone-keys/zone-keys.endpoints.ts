import * as z from 'zod';
import { get, onClient, post } from '../endpoint.ts';
import { Reason } from '../zones/zones.ts';
import { ZoneKey } from './zone-keys.ts';

export const zoneKeys = onClient('zoneKeys', {
  get:    get('zone/:zoneId/key', { can: 'zone:read', reply: ZoneKey }),
  rotate: post('zone/:zoneId/key/rotate', { can: 'zone:write', body: z.object({ reason: Reason }), reply: ZoneKey, fails: ['NODE_VERSION_MISMATCH'] }),
});
