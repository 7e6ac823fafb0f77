import { Ids, paged } from '../common/common.ts';
import { del, get, onSites, post, put } from '../endpoint.ts';
import * as l from './layer4-rules.ts';

const can = 'firewall:read';
const write = 'firewall:write';

/** Which of a site's layer-4 lists comes first at a port. Without a position it is the white list. */
export const layer4Positions = onSites('layer4Positions', {
  list:   get('site/:siteId/firewall/l4/positions', { can, query: l.Layer4RuleQuery, reply: paged(l.Layer4Position) }),
  create: post('site/:siteId/firewall/l4/positions', { can: write, body: l.Layer4PositionInput, reply: l.Layer4Position, fails: ['DUPLICATED'] }),
  update: put('site/:siteId/firewall/l4/positions', { can: write, body: l.Layer4PositionUpdate, reply: l.Layer4Position, fails: ['DUPLICATED'] }),
  remove: del('site/:siteId/firewall/l4/positions', { can: write, body: Ids, reply: Ids }),
});

/** How many TCP connections one visitor may have open at a port. */
export const layer4LimitConns = onSites('layer4LimitConns', {
  list:   get('site/:siteId/firewall/l4/limitConns', { can, query: l.Layer4RuleQuery, reply: paged(l.Layer4LimitConn) }),
  create: post('site/:siteId/firewall/l4/limitConns', { can: write, body: l.Layer4LimitConnInput, reply: l.Layer4LimitConn, fails: ['DUPLICATED'] }),
  update: put('site/:siteId/firewall/l4/limitConns', { can: write, body: l.Layer4LimitConnUpdate, reply: l.Layer4LimitConn, fails: ['DUPLICATED'] }),
  remove: del('site/:siteId/firewall/l4/limitConns', { can: write, body: Ids, reply: Ids }),
});
