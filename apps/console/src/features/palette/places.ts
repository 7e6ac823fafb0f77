// Tabs, sections and verbs inside the pages, which the palette finds by name from any page. Site views, menu entries
// and create commands are declared elsewhere (site-views.ts, menu.ts, inner-creations.ts).
import type { Icon } from '@tabler/icons-react';
import { entryAt } from '../../components/frame/menu.ts';
import type { SiteInfo } from '../../components/frame/site-scope.ts';
import { family, to, type Family } from '../../lib/family.ts';
import type { Word } from '../../lib/i18n.ts';
import { domainAddress, siteAddress } from '../../lib/site-address.ts';
import { lastSite } from '../../stores/session.ts';
import { askForThings, openThings } from './ask-for-things.ts';
import type { Surroundings } from './entities.ts';
import type { Chosen, Kind } from './inner-creations.ts';
import type { Item } from './item.ts';

/** A page with named parts. */
interface PageOfPlaces {
  /** The consoles that have these tabs. Absent: all. */
  only?: readonly Family[];
  /** The entry of the menu, or the view of a site, whose permission the page needs. */
  in: { entry: string } | { view: string };
  /** Objects to ask for unless they are open, in order. */
  asks: readonly Kind[];
  address: (chosen: Chosen, tab: string) => string;
  /** Titles and verbs by tab, the tab's own title first. `''` is the page itself. */
  tabs: Readonly<Record<string, readonly Word[]>>;
}

const withTab = (address: string, tab: string) =>
  tab === '' ? address : `${address}${address.includes('?') ? '&' : '?'}tab=${tab}`;
const view = (name: string, tabs: PageOfPlaces['tabs']): PageOfPlaces => ({
  in: { view: name },
  asks: ['site'],
  address: ({ site }, tab) => siteAddress(site, name, tab),
  tabs,
});
const entry = (path: string, tabs: PageOfPlaces['tabs']): PageOfPlaces => ({
  in: { entry: path },
  asks: [],
  address: (_, tab) => withTab(to(path), tab),
  tabs,
});

const ofAccounts = [
  'proxy.actAs',
  'accounts.actions.normal',
  'accounts.actions.pause',
  'accounts.actions.lock',
  'accounts.actions.resend',
] as const;

export const pagesOfPlaces: readonly PageOfPlaces[] = [
  view('overview', {
    '': [
      'sites.overview.state',
      'sites.overview.reach',
      'sites.overview.limits',
      'sites.overview.contents',
      'sites.overview.users',
    ],
  }),
  view('domains', {
    '': [
      'domains.bulk.check',
      'domains.bulk.force',
      'domains.bulk.unforce',
      'domains.bulk.tags',
      'domains.bulk.origins',
      'domains.bulk.swap',
      'domains.bulk.copy',
      'domains.bulk.export',
      'domains.clone',
      'certificates.forDomains',
    ],
  }),
  view('ports', { '': ['ports.web'] }),
  view('certs', { '': ['certificates.assign'] }),
  view('dns', { '': ['siteDns.look'] }),
  view('cache', {
    rules: ['cache.tabs.rules'],
    current: ['cache.tabs.current', 'cache.current.title', 'cache.current.nodes'],
    purge: ['cache.tabs.purge', 'palette.does.purge', 'purge.what', 'purge.again'],
    preheat: ['cache.tabs.preheat', 'preheat.title'],
    settings: [
      'cache.tabs.settings',
      'cache.setting.failing',
      'cache.setting.guess',
      'cache.setting.safety',
      'cache.setting.rfc',
      'cache.setting.shield',
    ],
  }),
  view('gzip', { '': ['compression.how', 'compression.what', 'compression.images'] }),
  view('firewall', {
    black: ['firewall.tabs.black'],
    white: ['firewall.tabs.white'],
    geo: ['firewall.tabs.geo'],
    reputation: ['firewall.tabs.reputation'],
    agents: ['firewall.tabs.agents'],
    sources: ['firewall.tabs.sources', 'listSources.refresh'],
    layer4Black: ['firewall.tabs.layer4Black'],
    layer4White: ['firewall.tabs.layer4White'],
    layer4Positions: ['firewall.tabs.layer4Positions'],
    layer4LimitConns: ['firewall.tabs.layer4LimitConns'],
  }),
  view('crawlers', {
    rules: ['crawlers.tabs.rules', 'crawlers.categories'],
    robots: ['crawlers.tabs.robots', 'robots.file', 'robots.groups', 'robots.more', 'robots.preview'],
  }),
  view('limits', { '': ['frequencies.title', 'limitReqs.title', 'limitConns.title'] }),
  view('challenges', { '': ['siteAntiCC.attack.title', 'siteAntiCC.attack.start'] }),
  view('tokens', { '': ['tokenAuths.tester.sign', 'tokenAuths.tester.judge'] }),
  view('versions', { '': ['versions.rollback', 'palette.does.rollBack', 'versions.choose', 'versions.compare'] }),
  view('logPush', { '': ['logDestinations.test'] }),
  {
    in: { view: 'domains' },
    asks: ['site', 'domain'],
    address: ({ site, domain }, tab) => withTab(domainAddress(site, domain.name), tab),
    tabs: {
      origins: [
        'domains.tabs.origins',
        'domains.probe.title',
        'domains.origins.failure',
        'domains.origins.websocket',
        'domains.health.title',
        'domains.origins.slowStart',
        'domains.origins.protocol',
        'domains.origins.portMap',
      ],
      https: [
        'domains.tabs.https',
        'domains.https.certificate',
        'domains.https.force',
        'domains.https.hsts',
        'domains.https.version',
        'domains.https.origin',
      ],
      cache: ['cache.title', 'cache.rules', 'purge.domain.title'],
      rules: ['domainModules.tab'],
      hotlink: ['hotlink.tab'],
    },
  },
  {
    in: { entry: 'nodeManage/zonesList' },
    asks: ['zone'],
    address: ({ zone }, tab) => withTab(to(`nodeManage/zonesList/${zone.id}`), tab),
    tabs: {
      ports: ['zones.tabs.ports'],
      nodes: ['zones.tabs.nodes'],
      nginx: ['zones.tabs.nginx'],
      resources: ['zones.tabs.resources', 'zoneSettings.workers', 'zoneSettings.cache', 'zoneSettings.bodies'],
      preheat: ['zones.tabs.preheat', 'preheatCaches.warm'],
      https: ['zones.tabs.https', 'zoneSettings.protocols', 'zones.redirect.title', 'zoneSettings.care'],
      firewall: [
        'zones.tabs.firewall',
        'zoneSettings.lists',
        'zoneSettings.risk',
        'zoneSettings.hasty',
        'zoneSettings.proxies',
      ],
      ipset: ['zones.tabs.ipset', 'ipset.title', 'ipset.flush', 'ipset.unblock', 'dropped.title'],
      sources: ['firewall.tabs.sources'],
      anticc: [
        'zones.tabs.antiCC',
        'antiCC.title',
        'antiCC.presets',
        'antiCC.who',
        'antiCC.how',
        'antiCC.proof',
        'antiCC.exempt',
      ],
      switches: ['zones.tabs.switches'],
      key: ['zones.tabs.key', 'zoneKeys.key', 'zoneKeys.change', 'zoneKeys.known', 'zoneKeys.rotate'],
      versions: ['zones.tabs.versions', 'palette.does.rollBackZone', 'zoneSettings.rollback'],
    },
  },
  {
    in: { entry: 'nodeManage/nodesList' },
    asks: ['node'],
    address: ({ node }, tab) => withTab(to(`nodeManage/nodesList/${node.id}`), tab),
    tabs: {
      info: [
        'nodes.tabs.info',
        'nodes.info.machine',
        'nodes.info.sync',
        'nodes.info.faults',
        'nodes.lost.title',
        'nodes.unreadable.title',
        'nodes.tabs.subs',
        'nodes.running.title',
        'nodes.monitors.title',
        'groups.ofNode',
        'nodes.actions.enable',
        'nodes.actions.disable',
        'nodes.actions.drain',
        'nodes.actions.rejoin',
        'nodes.actions.reset',
        'nodes.actions.reboot',
        'nodes.actions.move',
        'nodes.actions.role',
        'nodes.actions.monitor',
        'nodes.actions.upgrade',
        'nodes.subs.remove',
        'nodeJobs.install',
        'nodeJobs.uninstall',
      ],
      performance: ['nodes.tabs.performance'],
      connections: ['nodes.tabs.connections'],
      cache: ['nodes.tabs.cache', 'nodes.settings.cache', 'nodes.actions.purge', 'nodes.actions.clearCache'],
      geneva: ['nodes.tabs.geneva', 'nodes.actions.geneva'],
      logs: ['nodes.tabs.logs', 'nodes.actions.rotation', 'nodes.actions.rotateLogs'],
      commands: ['nodes.tabs.commands', 'nodeJobs.recent'],
      upgrades: ['nodes.tabs.upgrades', 'upgrades.log.title'],
    },
  },
  entry('nodeManage/nodesList', { all: ['nodes.tabs.all'], waiting: ['nodes.tabs.waiting'] }),
  entry('monitorManagement/monitorNodeList', {
    all: ['monitorNodes.tabs.all', 'monitorNodes.rejoin'],
    waiting: ['monitorNodes.tabs.waiting'],
  }),
  entry('nodeManage/rollouts', {
    '': [
      'rollouts.actions.pause',
      'rollouts.actions.continue',
      'rollouts.actions.rollback',
      'rollouts.actions.fastLane',
    ],
  }),
  entry('nodeManage/sitesList', {
    '': [
      'sites.actions.normal',
      'sites.actions.pause',
      'sites.actions.lock',
      'sites.actions.purge',
      'sites.actions.force',
      'sites.actions.lift',
      'sites.actions.product',
      'sites.actions.limits',
      'sites.actions.expiry',
      'sites.actions.tags',
    ],
  }),
  entry('nodeManage/productsList', { '': ['products.refresh.label'] }),
  entry('nodeManage/vNode', { '': ['virtualNodes.records'] }),
  entry('nodeManage/autoSSLManagement', { '': ['autoCertificates.renew'] }),
  entry('dataAnalysis/blockIPs', { '': ['ipset.unblock'] }),
  entry('dataAnalysis/logExport', { '': ['logExports.download', 'logExports.retry'] }),
  entry('systemManagement/cname', { '': ['cnames.makeDefault'] }),
  entry('systemManagement/webhooks', { '': ['webhooks.log'] }),
  entry('userManagement/announcementSetting', { '': ['announcementSetting.up', 'announcementSetting.down'] }),
  entry('userManagement/apiTokenSetting', { '': ['apiTokens.revoke'] }),
  entry('dashboard', {
    overview: ['dashboard.tabs.overview', 'dashboard.attention'],
    blacklist: ['dashboard.tabs.blacklist'],
    waf: ['dashboard.tabs.waf'],
  }),
  entry('dataAnalysis/logger', {
    requests: ['logs.tab', 'palette.does.exportLogs'],
    waf: ['logs.waf.tab'],
    sessions: ['logs.sessions.tab'],
  }),
  entry('systemManagement/systemSetting', {
    '': [
      'emailSetting.title',
      'emailSetting.server',
      'emailSetting.sender',
      'emailSetting.test',
      'nameProofSetting.title',
      'nameProofSetting.names',
      'systemSetting.links',
      'systemSetting.mails',
      'systemSetting.signIn',
      'systemSetting.allAccounts',
      'systemSetting.origins',
      'systemSetting.networks',
      'oidcSetting.title',
      'oidcSetting.provider',
      'oidcSetting.button',
      'oidcSetting.redirects',
      'oidcSetting.links',
      'dbBackup.title',
      'dbBackup.schedule',
      'dbBackup.last',
      'dbBackup.files',
    ],
  }),
  entry('systemManagement/predefinedSetting', { '': ['predefinedSetting.template'] }),
  entry('systemManagement/notifySetting', {
    history: ['notifySetting.tabs.history'],
    channels: ['notifySetting.tabs.channels', 'notifySetting.telegram'],
  }),
  { ...entry('systemManagement/notifySetting', { channels: ['alertFrequency.title'] }), only: ['client'] },
  entry('systemManagement/dnsSetting', {
    accounts: ['dnsSetting.tabs.accounts', 'dnsSetting.compare', 'dnsSetting.renew', 'dnsSetting.repaired'],
    unprocessed: ['dnsSetting.tabs.unprocessed', 'unprocessed.recover', 'unprocessed.takeOver'],
  }),
  { ...entry('trafficPkgManagement/trafficPkgList', { '': ['trafficUsage.months'] }), only: ['user'] },
  entry('userManagement/userInformation', {
    '': [
      'userInformation.account',
      'userInformation.messages',
      'userInformation.person',
      'userInformation.company',
      'userInformation.mails',
    ],
  }),
  { ...entry('userManagement/userInformation', { '': ['licenses.title'] }), only: ['client'] },
  {
    ...entry('licenses', {
      offers: ['licenses.tabs.offers'],
      operators: ['licenses.tabs.operators', 'licenses.issue', 'licenses.change'],
    }),
    only: ['admin'],
  },
  {
    ...entry('offlineLicense', {
      issued: ['offlineLicenses.tabs.issued', 'offlineLicenses.issue', 'offlineLicenses.free'],
      installation: ['offlineLicenses.tabs.installation', 'installationLicense.title', 'installationLicense.loadTitle'],
    }),
    only: ['admin'],
  },
  {
    ...entry('userManagement/users', {
      operators: ['accounts.tabs.operators', ...ofAccounts],
      users: ['accounts.tabs.users'],
    }),
    only: ['admin'],
  },
  { ...entry('userManagement/users', { customers: ['accounts.tabs.customers', ...ofAccounts] }), only: ['client'] },
  entry('userManagement/users', {
    subs: ['accounts.tabs.subs', 'accounts.actions.role', 'accounts.actions.assign', 'accounts.actions.unassign'],
  }),
  { ...entry('userManagement/users', { subs: ofAccounts }), only: ['user'] },
  {
    in: { entry: 'userManagement/userInformation' },
    asks: [],
    address: (_, tab) => withTab(to('security'), tab),
    tabs: {
      '': ['security.title'],
      twoFactor: ['security.tabs.twoFactor'],
      passkeys: ['security.tabs.passkeys'],
      devices: ['security.tabs.devices', 'security.end'],
    },
  },
  {
    in: { entry: 'userManagement/userInformation' },
    asks: [],
    address: () => to('changePassword'),
    tabs: { '': ['security.changePassword'] },
  },
];

/** Words that readers use for the same place. */
export const synonyms: Partial<Record<Word, Word>> = {
  'cache.tabs.purge': 'palette.also.purge',
  'palette.does.purge': 'palette.also.purge',
  'cache.tabs.preheat': 'palette.also.prefetch',
  'preheat.title': 'palette.also.prefetch',
  'versions.title': 'palette.also.versions',
  'versions.rollback': 'palette.also.versions',
  'palette.does.rollBack': 'palette.also.versions',
  'palette.does.rollBackZone': 'palette.also.versions',
  'rollouts.actions.rollback': 'palette.also.versions',
  'rollouts.title': 'palette.also.rollouts',
  'firewall.title': 'palette.also.firewall',
  'security.tabs.twoFactor': 'palette.also.twoFactor',
  'siteAntiCC.title': 'palette.also.challenges',
  'siteAntiCC.attack.title': 'palette.also.challenges',
  'simulate.title': 'palette.also.simulate',
  'sites.actions.normal': 'palette.also.resume',
  'sites.actions.pause': 'palette.also.suspend',
  'sites.actions.lock': 'palette.also.suspend',
  'accounts.actions.normal': 'palette.also.resume',
  'accounts.actions.pause': 'palette.also.suspend',
  'accounts.actions.lock': 'palette.also.suspend',
  'proxy.actAs': 'palette.also.actAs',
  'autoCertificates.renew': 'palette.also.renew',
};
export const alsoOf = (title: Word, t: Surroundings['t']) => {
  const also = synonyms[title];
  return also === undefined ? {} : { also: t(also) };
};

/** Views, tabs, sections and verbs that are not on the current screen's menu. */
export function places(around: Surroundings, site: SiteInfo | null): Item[] {
  const { t, tools } = around;
  const open = openThings(site ?? lastSite.get());
  const parents = parentsOf(around);
  const item = (id: string, title: Word, parent: Parent, page: Omit<PageOfPlaces, 'in' | 'tabs'>, tab = ''): Item => {
    const known = page.asks.flatMap((kind) => open[kind]?.name ?? []).at(-1);
    const detail = [parent.title === title ? '' : t(parent.title), known].filter(Boolean).join(' · ');
    return {
      id,
      title: t(title),
      detail,
      icon: parent.icon,
      ...alsoOf(title, t),
      run: () =>
        askForThings(tools, page.asks, open, (chosen) =>
          tools.go({
            title: t(title),
            detail: [t(parent.title), ...page.asks.map((kind) => chosen[kind].name).slice(-1)].join(' · '),
            to: page.address(chosen, tab),
          }),
        ),
    };
  };
  const ofViews = site
    ? []
    : [...parents].flatMap(([name, parent]) =>
        parent.isView
          ? [item(name, parent.title, parent, { asks: ['site'], address: (chosen) => siteAddress(chosen.site, name) })]
          : [],
      );
  const inner = pagesOfPlaces.flatMap((page, at) => {
    const parent = parents.get('view' in page.in ? page.in.view : page.in.entry);
    if (!parent || page.only?.includes(family) === false) return [];
    return Object.entries(page.tabs).flatMap(([tab, titles]) =>
      titles.map((title) => item(`place ${at} ${tab} ${title}`, title, parent, page, tab)),
    );
  });
  return [...ofViews, ...inner];
}

interface Parent {
  title: Word;
  icon: Icon;
  isView: boolean;
}
/** The views and menu entries that the account may open. */
function parentsOf({ can, menu, views }: Surroundings): Map<string, Parent> {
  const parents = new Map<string, Parent>();
  for (const { view: name, title, icon, reads } of views.flatMap((group) => group.views))
    if (!reads || can(reads)) parents.set(name, { title, icon, isView: true });
  for (const page of pagesOfPlaces) {
    if ('view' in page.in) continue;
    const found = entryAt(menu, page.in.entry)?.entry;
    if (found?.to === page.in.entry && (!found.reads || can(found.reads)))
      parents.set(found.to, { title: found.title, icon: found.icon, isView: false });
  }
  return parents;
}
