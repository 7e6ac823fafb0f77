import { blockIPs } from '@edgeloom/contract/block-ips/block-ips.endpoints.ts';
import { useNavigate } from 'react-router-dom';
import { useT } from '../../lib/i18n.ts';
import { siteAddress } from '../../lib/site-address.ts';
import { useCan } from '../../lib/use-can.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import { toast } from '../../stores/toasts.ts';

const HOUR_MS = 3_600_000;
const lengths = { hour: HOUR_MS, day: 24 * HOUR_MS, week: 7 * 24 * HOUR_MS, forever: null } as const;
export type BlockDuration = keyof typeof lengths;

export interface SiteRef {
  id: string;
  name: string;
}

const local: readonly string[] = ['127.0.0.1', '::1'];
/** Nodes block no address of their own machine, whatever the lists say. */
export const isNeverBlocked = (address: string) => local.includes(address);

/** Adds addresses to the block list and the allow list of a site. `memo` is that of a new list. */
export function useAddressLists(memo: string) {
  const t = useT();
  const can = useCan();
  const navigate = useNavigate();
  const options = { refreshes: ['firewall', 'blacklists', 'whitelists', 'sites'] };
  const blocking = useAction(blockIPs.block, options);
  const exempting = useAction(blockIPs.exempt, options);
  const offerList = (site: SiteRef, tab: string, text: string) => {
    const open = siteAddress(site, 'firewall', tab);
    toast({ text, action: { label: t('blockIPs.openList'), run: () => void navigate(open) } });
  };
  return {
    canBlock: can(blockIPs.block),
    isPending: blocking.running || exempting.running,
    block: async (site: SiteRef, ip: string, duration: BlockDuration) => {
      const ms = lengths[duration];
      const until = ms === null ? null : new Date(Date.now() + ms).toISOString();
      const reply = await blocking.run({ params: { siteId: site.id }, body: { ip, until, memo } });
      if (reply !== null) offerList(site, 'black', t('blockIPs.blockedAtSite', { ip }));
    },
    exempt: async (site: SiteRef, ip: string, url?: string) => {
      const body = { ip, memo, ...(url !== undefined && { url }) };
      const reply = await exempting.run({ params: { siteId: site.id }, body });
      if (reply !== null) offerList(site, 'white', t('blockIPs.exempted', { ip }));
    },
  };
}
