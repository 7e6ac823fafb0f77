import { tMaybe } from '../../lib/i18n.ts';

/** Kinds of the operation log, for features that are named otherwise. */
const kinds: Readonly<Record<string, string>> = {
  clientSites: 'sites',
  branding: 'brandings',
  webhooks: 'alertChannels',
  announcementSetting: 'announcements',
  domainUpstreams: 'upstreams',
  siteAntiHeaders: 'antiHeaders',
  blacklists: 'firewallLists',
  whitelists: 'firewallLists',
  geos: 'firewallGeos',
  userAgents: 'userAgentRules',
  layer4Blacklists: 'layer4Lists',
  layer4Whitelists: 'layer4Lists',
  antiCCs: 'siteAntiCcs',
  ports: 'portRules',
  ipset: 'blocks',
  blockIPs: 'blocks',
  zoneListSources: 'listSources',
};

/** `zones`, `zone`: what the rows of a feature are. Null: the feature has no noun. */
export const nounOf = (feature: string, count: number) => tMaybe(`audit.nouns.${kinds[feature] ?? feature}`, { count });
