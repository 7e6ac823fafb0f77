import * as z from 'zod';
import { Time } from '../common/common.ts';
import { Dropped } from '../edge/messages.ts';
import { get, onClient } from '../endpoint.ts';

export const ZoneDropped = Dropped.extend({
  since: Time.nullable().describe('The earliest start of an agent that counts; null: none does'),
  nodes: z.int().describe('Nodes whose kernel drops packets'),
  of: z.int().describe('Nodes that are connected and serve visitors'),
});

export const zoneFirewall = onClient('zoneFirewall', {
  dropped: get('zone/:zoneId/setting/firewall/dropped', { can: 'zone:read', reply: ZoneDropped }),
});
