// Single entries for a site's lists, from requests in the logs. They join the newest list with the same memo and URL,
// so that clicks do not use up the lists of a site.
import type { Exemption } from '@edgeloom/contract/block-ips/block-ips.ts';
import { MAX_ADDRESSES } from '@edgeloom/contract/common/address-ranges.ts';
import { MAX_LISTS } from '@edgeloom/contract/firewall/firewall.ts';
import { networkOf } from '@edgeloom/contract/ipset/network.ts';
import type { Ctx } from '../../core/ctx.ts';
import { failAt } from '../../core/fail.ts';
import { signedInNow } from '../../core/signed-in-addresses.ts';
import { Expires } from '../firewall/address-lists.service.ts';
import { withSite } from '../firewall/site-lock.ts';

export async function blockAtSite(ctx: Ctx, siteId: string, entry: Exemption): Promise<{ id: string }> {
  const site = await ctx.db.site.findFirst({ where: { id: siteId }, select: { zoneId: true } });
  const network = networkOf(entry.ip);
  if (site !== null && network !== null) {
    const signedIn = await signedInNow(ctx, site.zoneId, [network]);
    if (signedIn.has(network)) failAt('ip', 'forbidden', 'this address is not allowed');
  }
  return addEntry(ctx, siteId, true, entry);
}

export const exemptAtSite = (ctx: Ctx, siteId: string, entry: Exemption) => addEntry(ctx, siteId, false, entry);

const addEntry = (ctx: Ctx, siteId: string, isBlack: boolean, { ip, until, memo, url }: Exemption) =>
  withSite(ctx, siteId, async (tx) => {
    const now = ctx.now();
    // Masked logs have the beginning of an address, which may be somebody else's.
    const isMasked =
      /(?:\.0|::)$/.test(ip) && (await tx.site.count({ where: { id: siteId, maskLogAddress: true } })) > 0;
    if (isMasked) failAt('ip', 'forbidden', 'this address is not allowed');
    if (until !== null && until <= now) failAt('until', 'range', 'enter a time in the future');
    const urls = url === undefined ? [] : [url];
    const lists = await tx.firewallList.findMany({
      where: {
        siteId,
        isBlack,
        memo,
        monitor: false,
        enabled: true,
        urls: { equals: urls },
        methods: { isEmpty: true },
      },
      orderBy: { id: 'desc' },
      take: 1,
    });
    const [list] = lists;
    // Ended entries make room.
    const ends = Expires.parse(list?.expires ?? []).filter((end) => end.at > now && end.ip !== ip);
    const hasEnded = new Set(Expires.parse(list?.expires ?? []).flatMap((end) => (end.at <= now ? [end.ip] : [])));
    const value = [...(list?.value ?? []).filter((other) => other !== ip && !hasEnded.has(other)), ip];
    const expires = [...ends, ...(until === null ? [] : [{ ip, at: until }])].map((end) => ({
      ip: end.ip,
      at: end.at.toISOString(),
    }));
    if (list !== undefined && value.length <= MAX_ADDRESSES) {
      await tx.firewallList.updateMany({ where: { id: list.id, siteId }, data: { value, expires } });
      return { id: list.id };
    }
    if ((await tx.firewallList.count({ where: { siteId } })) >= MAX_LISTS)
      failAt('ip', 'range', `at most ${MAX_LISTS} lists`);
    const made = { siteId, isBlack, value: [ip], expires: expires.filter((end) => end.ip === ip) };
    const { id } = await tx.firewallList.create({
      data: { ...made, urls, methods: [], memo, monitor: false, enabled: true },
    });
    return { id };
  });
