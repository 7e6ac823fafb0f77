import { zoneFirewall } from '@edgeloom/contract/zone-firewall/zone-firewall.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './zone-firewall.service.ts';

export const zoneFirewallRoutes = routes(zoneFirewall, {
  dropped: (ctx, { params }) => service.dropped(ctx, params.zoneId),
});
