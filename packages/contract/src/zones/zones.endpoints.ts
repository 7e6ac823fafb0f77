import * as z from 'zod';
import { Id, Ids, Meta, MetaQuery, paged, paging } from '../common/common.ts';
import { del, get, onClient, post, put } from '../endpoint.ts';
import { Reason, RedirectCode, Zone, ZoneInput, ZonePort, ZonePortInput, ZoneUpdate } from './zones.ts';

const Search = { name: z.string().max(256).optional() };

export const zones = onClient('zones', {
  list:   get('zones', { can: 'zone:read', query: paging(['createdAt', 'name', 'updatedAt'], 10).extend(Search), reply: paged(Zone) }),
  meta:   get('metaZones', { can: 'zone:read', query: MetaQuery, reply: Meta }),
  get:    get('zone/:zoneId', { can: 'zone:read', reply: Zone }),
  create: post('zone', { can: 'zone:write', body: ZoneInput, reply: Zone, fails: ['ZONE_NAME_TAKEN', 'ZONE_LIMIT', 'LIMIT_REACHED', 'LICENSE_EXPIRED'] }),
  update: put('zone', { can: 'zone:write', body: ZoneUpdate, reply: Zone, fails: ['ZONE_NAME_TAKEN'] }),
  forceSSLRedirectCode: put('zone/:zoneId/setting/forceSSLRedirectCode', { can: 'zone:write', body: z.object({ code: RedirectCode, reason: Reason }), reply: Zone }),
  remove: del('zone', { can: 'zone:write', body: Ids, reply: Ids, fails: ['ZONE_HAS_NODES', 'SITE_IN_USE', 'PRODUCT_IN_USE'] }),
});

export const zonePorts = onClient('zonePorts', {
  list:   get('zone/:zoneId/setting/ports', { can: 'zone:read', reply: z.object({ data: z.array(ZonePort) }) }),
  create: post('zone/:zoneId/setting/port', { can: 'zone:write', body: ZonePortInput.extend({ reason: Reason }), reply: ZonePort, fails: ['DUPLICATED', 'PORT_HELD', 'SITE_HAS_L4_PORTS'] }),
  update: put('zone/:zoneId/setting/port', { can: 'zone:write', body: ZonePortInput.extend({ id: Id, reason: Reason }), reply: ZonePort, fails: ['DUPLICATED', 'PORT_HELD', 'SITE_HAS_L4_PORTS', 'INCONSISTENT_PORTS'] }),
  remove: del('zone/:zoneId/setting/port', { can: 'zone:write', body: Ids.extend({ reason: Reason }), reply: Ids, fails: ['INCONSISTENT_PORTS'] }),
});
