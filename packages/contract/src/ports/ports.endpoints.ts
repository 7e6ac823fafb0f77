import * as z from 'zod';
import { Enabling, Id, Ids, paged, paging } from '../common/common.ts';
import { Upstream, UpstreamInput, Upstreams } from '../domains/domains.ts';
import { del, get, onSites, post, put } from '../endpoint.ts';
import { ForwardsInput, ForwardUpdate, OpenPorts, Port, PortLines, SiteZonePort } from './ports.ts';

const createFails = ['MULTIPLE', 'DUPLICATED', 'INCONSISTENT_PORTS', 'PORT_LIMIT', 'ILLEGAL_PORT_TYPE', 'LICENSE_EXPIRED', 'NO_ENABLED_UPSTREAM'] as const;
const origins = z.object({ data: z.array(Upstream) });
const zonePorts = z.object({ data: z.array(SiteZonePort) });

/** Layer 4: the site's forwards. The list contains layer-7 ports as well. */
export const ports = onSites('ports', {
  list:        get('site/:siteId/ports', { can: 'site:read', query: paging(['port', 'createdAt', 'updatedAt']).extend({ keyword: z.string().max(256).optional().describe('Part of the port, the memo or an origin'), portType: z.enum(['4', '7']).optional(), enabled: z.boolean().optional() }), reply: paged(Port) }),
  create:      post('site/:siteId/ports', { can: 'site:write', body: ForwardsInput, reply: Ids, fails: createFails }),
  createLines: post('site/:siteId/port/batchCreate', { can: 'site:write', body: PortLines, reply: Ids, fails: createFails }),
  update:      put('site/:siteId/port/:portId', { can: 'site:write', body: ForwardUpdate, reply: Port, fails: ['DUPLICATED', 'INCONSISTENT_PORTS', 'NO_ENABLED_UPSTREAM'] }),
  status:      put('site/:siteId/ports/status', { can: 'site:write', body: Enabling, reply: Ids }),
  remove:      del('site/:siteId/ports', { can: 'site:write', body: Ids, reply: Ids, fails: ['STILL_ENABLED'] }),
});

export const portUpstreams = onSites('portUpstreams', {
  list:   get('site/:siteId/port/:portId/upstreams', { can: 'site:read', query: z.object({ keyword: z.string().max(256).optional(), sortBy: z.enum(['address', 'port', 'weight']).default('address'), orderBy: z.enum(['asc', 'desc']).default('asc') }), reply: origins }),
  create: post('site/:siteId/port/:portId/upstreams', { can: 'site:write', body: z.object({ upstreams: Upstreams }), reply: origins, fails: ['DUPLICATED'] }),
  update: put('site/:siteId/port/:portId/upstreams', { can: 'site:write', body: z.object({ upstreams: z.array(UpstreamInput.extend({ id: Id })).min(1).max(100) }), reply: origins, fails: ['DUPLICATED', 'NO_ENABLED_UPSTREAM'] }),
  remove: del('site/:siteId/port/:portId/upstreams', { can: 'site:write', body: Ids, reply: origins, fails: ['NO_ENABLED_UPSTREAM'] }),
});

/** Layer 7: the zone's ports that the site uses. */
export const sitePorts = onSites('sitePorts', {
  list:  get('site/:siteId/zonePorts', { can: 'site:read', reply: zonePorts }),
  open:  post('site/:siteId/setting/ports', { can: 'site:write', body: OpenPorts, reply: zonePorts, fails: ['INCONSISTENT_PORTS'] }),
  close: del('site/:siteId/setting/ports', { can: 'site:write', body: Ids, reply: zonePorts, fails: ['INCONSISTENT_PORTS', 'ILLEGAL_PORT_MAP'] }),
});
