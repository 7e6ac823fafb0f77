import * as z from 'zod';
import { Ids, paged, paging } from '../common/common.ts';
import { del, get, onClient, post, put } from '../endpoint.ts';
import { AllSettings } from '../zone-settings/zone-settings.ts';
import { Reason } from '../zones/zones.ts';
import { Block, blockCauses, BlockColumn, BlockFault, BlockInput, Ipset } from './ipset.ts';

const Count = z.int().min(0);
const Set = Ipset.extend({
  size: Count.describe('Blocked now'),
  refused: Count.describe('That the set had no room for, since it was emptied'),
  holding: Count.describe('Nodes that have all of it'),
  nodes: Count.describe('Nodes that should'),
  faults: z.array(z.object({ node: z.string(), error: z.string() })).max(100).describe("Nodes whose kernel does not drop them; their nginx closes the connections. The first hundred by name"),
  faultCount: Count,
});
const Listing = paging([...BlockColumn]).extend({
  ip: z.string().trim().max(50).optional().describe('An address, or how it begins'),
  causes: z.array(z.enum(blockCauses)).max(20).optional(),
});

export const ipset = onClient('ipset', {
  get:    get('zone/:zoneId/setting/ipset', { can: 'zone:read', query: Listing, reply: paged(Block).extend(Set.shape) }),
  faults: get('zone/:zoneId/setting/ipset/faults', { can: 'zone:read', query: paging(['name'], 100), reply: paged(BlockFault) }),
  set:    put('zone/:zoneId/setting/ipset', { can: 'zone:write', body: Ipset.extend({ reason: Reason }), reply: AllSettings }),
  flush:  post('zone/:zoneId/setting/ipset/flush', { can: 'zone:write', reply: z.object({ removed: Count }) }),
  create: post('zone/:zoneId/setting/ipset/entries', { can: 'zone:write', body: BlockInput, reply: z.object({ data: z.array(Block) }) }),
  remove: del('zone/:zoneId/setting/ipset/entries', { can: 'zone:write', body: Ids, reply: Ids }),
});
