// Creations inside an opened object: in a tab, a drawer or a form. Menu entries and views of a site declare their
// own main action (components/frame/menu.ts).
import { accounts } from '@edgeloom/contract/accounts/accounts.calls.ts';
import { aclRules, acls } from '@edgeloom/contract/acl/acl.calls.ts';
import { passkeys } from '@edgeloom/contract/auth/auth.calls.ts';
import { domains, domainUpstreams } from '@edgeloom/contract/domains/domains.calls.ts';
import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { geos, userAgents, whitelists } from '@edgeloom/contract/firewall/firewall.calls.ts';
import { layer4LimitConns, layer4Positions } from '@edgeloom/contract/layer4-rules/layer4-rules.calls.ts';
import { listSources, zoneListSources } from '@edgeloom/contract/list-sources/list-sources.calls.ts';
import { layer4Blacklists, layer4Whitelists } from '@edgeloom/contract/layer4-lists/layer4-lists.calls.ts';
import { groups } from '@edgeloom/contract/groups/groups.calls.ts';
import { antiHeaders, antiReferers } from '@edgeloom/contract/hotlink/hotlink.calls.ts';
import { ipset } from '@edgeloom/contract/ipset/ipset.calls.ts';
import { frequencies, limitConns, limitReqs } from '@edgeloom/contract/limits/limits.calls.ts';
import { proxyRewrites, redirects, tokenAuths, urlRedirects } from '@edgeloom/contract/modules/modules.calls.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.calls.ts';
import { ports, portUpstreams } from '@edgeloom/contract/ports/ports.calls.ts';
import { preheatCaches } from '@edgeloom/contract/preheat-caches/preheat-caches.calls.ts';
import { antiCCs } from '@edgeloom/contract/site-anti-cc/site-anti-cc.calls.ts';
import { sites } from '@edgeloom/contract/sites/sites.calls.ts';
import { virtualNodes, virtualRecords } from '@edgeloom/contract/virtual-nodes/virtual-nodes.calls.ts';
import { zonePorts, zones } from '@edgeloom/contract/zones/zones.calls.ts';
import type { Creation } from '../../components/frame/menu.ts';
import { to } from '../../lib/family.ts';
import type { Word } from '../../lib/i18n.ts';
import { domainAddress, siteAddress } from '../../lib/site-address.ts';

export interface Thing {
  id: string;
  name: string;
}
export type Kind =
  | 'site'
  | 'domain'
  | 'forward'
  | 'redirectModule'
  | 'rewriteModule'
  | 'tokenModule'
  | 'aclModule'
  | 'zone'
  | 'virtualNode'
  | 'node';
/** The objects that were open or chosen. */
export type Chosen = Readonly<Record<Kind, Thing>>;

const none: Thing = { id: '', name: '' };
export const nothing: Chosen = {
  site: none,
  domain: none,
  forward: none,
  redirectModule: none,
  rewriteModule: none,
  tokenModule: none,
  aclModule: none,
  zone: none,
  virtualNode: none,
  node: none,
};

interface Asked {
  meta: Endpoint;
  label: Word;
  params?: (chosen: Chosen) => Readonly<Record<string, string>>;
  query?: Readonly<Record<string, unknown>>;
}
const ofSite = ({ site }: Chosen) => ({ siteId: site.id });

export const askedKinds: Readonly<Record<Kind, Asked>> = {
  site: { meta: sites.meta, label: 'palette.whichSite' },
  domain: { meta: domains.meta, label: 'palette.whichDomain', params: ofSite },
  forward: { meta: ports.list, label: 'palette.whichForward', params: ofSite, query: { portType: '4' } },
  redirectModule: { meta: urlRedirects.list, label: 'palette.whichModule', params: ofSite },
  rewriteModule: { meta: proxyRewrites.list, label: 'palette.whichModule', params: ofSite },
  tokenModule: { meta: tokenAuths.list, label: 'palette.whichModule', params: ofSite },
  aclModule: { meta: acls.list, label: 'palette.whichModule', params: ofSite },
  zone: { meta: zones.meta, label: 'palette.whichZone' },
  virtualNode: {
    meta: virtualNodes.list,
    label: 'palette.whichVirtualNode',
    params: ({ zone }) => ({ zoneId: zone.id }),
  },
  node: { meta: nodes.meta, label: 'palette.whichNode' },
};

export interface InnerCreation extends Pick<Creation, 'title'> {
  call: Endpoint;
  /** Entry of the menu that must be there. Absent: a page of every console, or of a site. */
  entry?: string;
  /** Objects to ask for unless they are open, in order. */
  asks: readonly Kind[];
  address: (chosen: Chosen) => string;
  /** Selectors of the buttons to press. Absent: the page's main action. */
  press?: (chosen: Chosen) => readonly string[];
}

const button = (creates: string) => () => [`[data-creates="${creates}"]`];
const inMenu = ({ id }: Thing, action: Word, creates: string) => [
  `[data-row="${id}"] [data-row-menu]`,
  `[data-action="${action}"]`,
  `[data-creates="${creates}"]`,
];
const inForm = ({ id }: Thing, creates: string) => [`[data-edits="${id}"]`, `[data-creates="${creates}"]`];
const zoneTab = (tab: string) => ({
  entry: 'nodeManage/zonesList',
  asks: ['zone'] as const,
  address: ({ zone }: Chosen) => to(`nodeManage/zonesList/${zone.id}?tab=${tab}`),
});
const nodeInfo = {
  entry: 'nodeManage/nodesList',
  asks: ['node'] as const,
  address: ({ node }: Chosen) => to(`nodeManage/nodesList/${node.id}?tab=info`),
};
/** A page of several lists has a button per list instead of a main action. */
const inList = (view: string, add: Word) => ({
  asks: ['site'] as const,
  address: ({ site }: Chosen) => siteAddress(site, view),
  press: button(add),
});
const firewallTab = (tab: string) => ({
  asks: ['site'] as const,
  address: ({ site }: Chosen) => `${siteAddress(site, 'firewall')}&tab=${tab}`,
});
const domainTab = (tab: string) => ({
  asks: ['site', 'domain'] as const,
  address: ({ site, domain }: Chosen) => `${domainAddress(site, domain.name)}&tab=${tab}`,
});

export const innerCreations: readonly InnerCreation[] = [
  { call: zonePorts.create, title: 'palette.creates.zonePort', ...zoneTab('ports') },
  { call: preheatCaches.create, title: 'palette.creates.preheatURL', ...zoneTab('preheat') },
  { call: ipset.create, title: 'ipset.block', ...zoneTab('ipset') },
  { call: zoneListSources.create, title: 'palette.creates.zoneListSource', ...zoneTab('sources') },
  { call: nodes.addSubs, title: 'nodes.subs.add', ...nodeInfo, press: button('subNode') },
  { call: groups.addNodes, title: 'groups.putOnLine', ...nodeInfo, press: button('placement') },
  {
    call: groups.place,
    title: 'groups.addLine',
    entry: 'nodeManage/resolutionTitle',
    asks: ['zone'],
    address: ({ zone }) => to(`nodeManage/resolutionTitle?zone=${zone.id}`),
    press: button('line'),
  },
  {
    call: virtualRecords.createNode,
    title: 'palette.creates.virtualRecord',
    entry: 'nodeManage/vNode',
    asks: ['zone', 'virtualNode'],
    address: ({ zone, virtualNode: { name } }) =>
      to(`nodeManage/vNode?${new URLSearchParams({ zone: zone.id, q: name })}`),
    press: ({ virtualNode }) => inMenu(virtualNode, 'virtualNodes.records', 'virtualRecord'),
  },
  { call: domainUpstreams.create, title: 'origins.add', ...domainTab('origins'), press: button('origin') },
  {
    call: antiReferers.create,
    title: 'hotlink.referers.add',
    ...domainTab('hotlink'),
    press: button('hotlink.referers.add'),
  },
  {
    call: antiHeaders.create,
    title: 'palette.creates.domainHeader',
    ...domainTab('hotlink'),
    press: button('hotlink.headers.add'),
  },
  { call: whitelists.create, title: 'palette.creates.whitelist', ...firewallTab('white') },
  { call: listSources.create, title: 'palette.creates.listSource', ...firewallTab('sources') },
  { call: layer4Blacklists.create, title: 'palette.creates.layer4Blacklist', ...firewallTab('layer4Black') },
  { call: layer4Whitelists.create, title: 'palette.creates.layer4Whitelist', ...firewallTab('layer4White') },
  { call: layer4Positions.create, title: 'palette.creates.layer4Position', ...firewallTab('layer4Positions') },
  { call: layer4LimitConns.create, title: 'palette.creates.layer4LimitConn', ...firewallTab('layer4LimitConns') },
  { call: geos.create, title: 'palette.creates.geo', ...firewallTab('geo') },
  { call: userAgents.create, title: 'palette.creates.userAgent', ...firewallTab('agents') },
  { call: frequencies.create, title: 'frequencies.add', ...inList('limits', 'frequencies.add') },
  { call: limitReqs.create, title: 'limitReqs.add', ...inList('limits', 'limitReqs.add') },
  { call: limitConns.create, title: 'limitConns.add', ...inList('limits', 'limitConns.add') },
  { call: antiCCs.create, title: 'antiCCs.add', ...inList('challenges', 'antiCCs.add') },
  {
    call: portUpstreams.create,
    title: 'palette.creates.forwardOrigin',
    asks: ['site', 'forward'],
    address: ({ site, forward }) => `${siteAddress(site, 'ports')}&q=${forward.name}`,
    press: ({ forward }) => inMenu(forward, 'common.edit', 'origin'),
  },
  {
    call: redirects.create,
    title: 'redirects.create',
    asks: ['site', 'redirectModule'],
    address: ({ site, redirectModule }) => `${siteAddress(site, 'redirects')}&module=${redirectModule.id}`,
  },
  {
    call: proxyRewrites.setRules,
    title: 'palette.creates.rewriteRule',
    asks: ['site', 'rewriteModule'],
    address: ({ site }) => siteAddress(site, 'rewrite'),
    press: ({ rewriteModule }) => inForm(rewriteModule, 'rewriteRule'),
  },
  {
    call: tokenAuths.setAuths,
    title: 'palette.creates.tokenEntry',
    asks: ['site', 'tokenModule'],
    address: ({ site }) => siteAddress(site, 'tokens'),
    press: ({ tokenModule }) => inForm(tokenModule, 'tokenEntry'),
  },
  {
    call: aclRules.create,
    title: 'palette.creates.aclRule',
    asks: ['site', 'aclModule'],
    address: ({ site }) => siteAddress(site, 'access'),
    press: ({ aclModule }) => inForm(aclModule, 'aclRule'),
  },
  {
    call: accounts.create,
    title: 'accounts.adding.subs',
    entry: 'userManagement/users',
    asks: [],
    address: () => to('userManagement/users?tab=subs'),
  },
  {
    call: passkeys.register,
    title: 'security.addPasskey',
    entry: 'userManagement/userInformation',
    asks: [],
    address: () => to('security?tab=passkeys'),
    press: button('passkey'),
  },
];
