// Search results as palette items with their actions.
import { purge } from '@edgeloom/contract/purge/purge.endpoints.ts';
import type { Endpoint, Received } from '@edgeloom/contract/endpoint.ts';
import type { palette } from '@edgeloom/contract/palette/palette.endpoints.ts';
import { clientSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import {
  IconBox,
  IconCopy,
  IconDots,
  IconEraser,
  IconLock,
  IconMapPins,
  IconServer2,
  IconUser,
  IconWorld,
} from '@tabler/icons-react';
import type { MenuGroup, SiteViewGroup } from '../../components/frame/menu.ts';
import { toneOf } from '../../components/status/status.tsx';
import { to } from '../../lib/family.ts';
import { tMaybe, type T } from '../../lib/i18n.ts';
import { domainAddress, siteAddress } from '../../lib/site-address.ts';
import type { Item, Section } from './item.ts';
import { serves, type Asked } from './read-input.ts';
import type { Tools } from './use-tools.ts';

export type Found = Received<typeof palette.search>;
export interface Surroundings {
  t: T;
  can: (endpoint: Pick<Endpoint, 'can'>) => boolean;
  menu: readonly MenuGroup[];
  views: readonly SiteViewGroup[];
  tools: Tools;
  /** Results of each kind that were requested. */
  pageSize: number;
  /** Requests more results. The item stays selected, and the new ones follow it. */
  showMore: (itemID: string) => void;
}
type Domain = Found['domains'][number];

/** Results of each kind at first, and at most after "Show more". */
export const FIRST_RESULTS = 6;
export const MAX_RESULTS = 500;

/** Paths of the lists that search the same rows. */
const listOf: Record<string, RegExp> = {
  domains: /^nodeManage\/domains$/,
  sites: /^(sitesManagement|nodeManage\/sitesList)$/,
  nodes: /^nodeManage\/nodesList$/,
  zones: /^nodeManage\/zonesList$/,
  products: /^nodeManage\/productsList$/,
  accounts: /\/users(List)?$/,
};

/** Marks a full section in its title, and adds a link to the list. Without a list it grows in place. */
function withRest(section: Section, asked: Asked, { t, can, menu, tools, pageSize, showMore }: Surroundings): Section {
  const { id, title, items } = section;
  if (items.length < pageSize) return section;
  const list = menu.flatMap(({ entries }) => entries).find((entry) => listOf[id]?.test(entry.to));
  const isListed = list !== undefined && asked.kind !== 'tags' && (!list.reads || can(list.reads));
  const address = list && `${to(list.to)}?${query('q', asked.text)}`;
  const all = { id: `all ${id}`, detail: title };
  const rest: Item[] =
    isListed && address
      ? [{ ...all, title: t('common.showAll'), icon: list.icon, run: () => tools.goTo(address) }]
      : pageSize < MAX_RESULTS
        ? [
            {
              ...all,
              title: t('palette.more'),
              icon: IconDots,
              run: () => showMore(items.at(-1)?.id ?? ''),
              staysOpen: true,
            },
          ]
        : [];
  return { id, title: t('palette.first', { name: title, shown: items.length }), items: [...items, ...rest] };
}

export function entities(found: Found, asked: Asked, around: Surroundings): Section[] {
  const { t } = around;
  const sections: Section[] = [
    { id: 'domains', title: t('palette.domains'), items: found.domains.map((domain) => domainItem(domain, around)) },
    { id: 'sites', title: t('palette.sites'), items: found.sites.map((site) => siteItem(site, around)) },
    { id: 'nodes', title: t('palette.nodes'), items: found.nodes.map((node) => nodeItem(node, around)) },
    { id: 'zones', title: t('palette.zones'), items: found.zones.map((zone) => zoneItem(zone, around)) },
    { id: 'products', title: t('palette.products'), items: found.products.map((one) => productItem(one, around)) },
    { id: 'accounts', title: t('palette.accounts'), items: found.accounts.flatMap((one) => accountItem(one, around)) },
  ];
  return sections.filter(({ items }) => items.length > 0).map((section) => withRest(section, asked, around));
}

/** Actions for a pasted URL whose domain is known. */
export function ofURL({ text: host, urls }: Asked, found: Found, { t, can, tools }: Surroundings): Section[] {
  const domain = found.domains.find(({ name, status }) => status === 1 && serves(name, host));
  const [url] = urls;
  if (!domain || url === undefined || !can(purge.urls)) return [];
  const { siteID, siteName } = domain;
  const items: Item[] = [
    {
      id: 'purge url',
      title: t('palette.purgeURL'),
      detail: urls.length > 1 ? url.replace(/^https:\/\//, '') : url,
      icon: IconEraser,
      run: () => tools.purgeURLs(siteID, urls),
    },
    {
      id: 'purge host',
      title: t('palette.purgeHost'),
      detail: `${domain.name} · ${siteName}`,
      icon: IconEraser,
      run: () => tools.purgeHost(siteID, domain.name),
    },
  ];
  return [{ id: 'url', title: t('palette.url'), items }];
}

const copying = (t: T, name: string): Item => ({
  id: 'copy',
  title: t('palette.copy'),
  detail: name,
  icon: IconCopy,
  run: () => navigator.clipboard.writeText(name),
});

function domainItem(domain: Domain, { t, can, tools }: Surroundings): Item {
  const { id, name, siteID, siteName, status, certStatus, cnameStatus } = domain;
  const site = { id: siteID, name: siteName };
  const place = { detail: siteName };
  const address = domainAddress(site, name);
  const trouble =
    status === 0
      ? { kind: 'domain', value: 'off' }
      : certStatus === 'fail'
        ? { kind: 'cert', value: certStatus }
        : cnameStatus === 'inactive'
          ? { kind: 'cname', value: cnameStatus }
          : null;
  const label = trouble && (tMaybe(`status.${trouble.kind}.${trouble.value}`) ?? trouble.value);
  return {
    id,
    title: name,
    detail: label ? `${siteName} · ${label}` : siteName,
    mark: { tone: status === 0 ? 'off' : trouble ? 'bad' : 'ok', label: label ?? '' },
    run: () => tools.go({ title: name, ...place, to: address }),
    actions: [
      ...(can(purge.urls) && status === 1
        ? [
            {
              id: 'purge host',
              title: t('palette.purgeHost'),
              icon: IconEraser,
              run: () => tools.purgeHost(siteID, name),
            },
          ]
        : []),
      {
        id: 'https',
        title: t('palette.openHttps'),
        icon: IconLock,
        run: () => tools.go({ title: `${name} · HTTPS`, ...place, to: `${address}&tab=https` }),
      },
      {
        id: 'site',
        title: t('palette.openSite'),
        detail: siteName,
        icon: IconWorld,
        run: () => tools.go({ title: siteName, detail: '', to: siteAddress(site) }),
      },
      copying(t, name),
    ],
  };
}

function siteItem({ id, name, status, productName }: Found['sites'][number], around: Surroundings): Item {
  const { t, can, views, tools } = around;
  const site = { id, name };
  const seen = views.flatMap((group) => group.views).filter(({ reads }) => reads === undefined || can(reads));
  const label = tMaybe(`status.site.${status}`) ?? status;
  return {
    id,
    title: name,
    detail: status === 'normal' ? productName : `${productName} · ${label}`,
    mark: { tone: toneOf('site', status), label },
    run: () => tools.go({ title: name, detail: productName, to: siteAddress(site) }),
    actions: [
      ...seen.slice(1).map(({ view, title, icon }) => ({
        id: view,
        title: t(title),
        icon,
        run: () => tools.go({ title: t(title), detail: name, to: siteAddress(site, view) }),
      })),
      ...(can(purge.all)
        ? [{ id: 'purge', title: t('purge.submitSite'), icon: IconEraser, run: () => tools.purgeSite(site) }]
        : []),
    ],
  };
}

function nodeItem(node: Found['nodes'][number], { t, tools }: Surroundings): Item {
  const { id, name, ip, status, zoneID, zoneName } = node;
  return {
    id,
    title: name,
    detail: `${ip} · ${zoneName}`,
    mark: { tone: toneOf('node', status), label: tMaybe(`status.node.${status}`) ?? status },
    run: () => tools.go({ title: name, detail: zoneName, to: to(`nodeManage/nodesList/${id}`) }),
    actions: [
      {
        id: 'zone',
        title: t('palette.openZone'),
        detail: zoneName,
        icon: IconMapPins,
        run: () => tools.go({ title: zoneName, detail: '', to: to(`nodeManage/zonesList/${zoneID}`) }),
      },
      copying(t, ip),
    ],
  };
}

function zoneItem({ id, name }: Found['zones'][number], { t, tools }: Surroundings): Item {
  const address = to(`nodeManage/zonesList/${id}`);
  return {
    id,
    title: name,
    icon: IconMapPins,
    run: () => tools.go({ title: name, detail: '', to: address }),
    actions: [
      {
        id: 'nodes',
        title: t('nodes.title'),
        icon: IconServer2,
        run: () => tools.go({ title: t('nodes.title'), detail: name, to: `${address}?tab=nodes` }),
      },
    ],
  };
}

function productItem({ id, name, zoneName }: Found['products'][number], { t, can, tools }: Surroundings): Item {
  return {
    id,
    title: name,
    detail: zoneName,
    icon: IconBox,
    run: () => tools.go({ title: name, detail: zoneName, to: to(`nodeManage/productsList?${query('q', name)}`) }),
    actions: can(clientSites.list)
      ? [
          {
            id: 'sites',
            title: t('palette.itsSites'),
            icon: IconWorld,
            run: () =>
              tools.go({
                title: t('palette.itsSites'),
                detail: name,
                to: to(`nodeManage/sitesList?${query('productID', id)}`),
              }),
          },
        ]
      : [],
  };
}

/** Link to the list of accounts, if this console has one. */
function accountItem({ id, email, name }: Found['accounts'][number], { menu, tools }: Surroundings): Item[] {
  const list = menu.flatMap(({ entries }) => entries).find((entry) => /\/users(List)?$/.test(entry.to));
  if (!list) return [];
  const detail = name === email ? '' : name;
  const address = `${to(list.to)}?${query('q', email)}`;
  return [
    {
      id,
      title: email,
      detail,
      icon: IconUser,
      run: () => tools.go({ title: email, detail, to: address }),
      actions: [],
    },
  ];
}

const query = (name: string, value: string) => new URLSearchParams([[name, value]]).toString();

/** The visitor's request and the calls of the API with this ID, if the account may read them. */
export function ofRequest(reqID: string, { t, can, menu, tools }: Surroundings): Section[] {
  const isVisitors = /^[0-9a-f]{32}$/.test(reqID.toLowerCase());
  const places = [
    {
      end: '/logger',
      title: t('logs.openRequest'),
      search: query('request', reqID.toLowerCase()),
      isShown: isVisitors,
    },
    { end: '/logOperation', title: t('palette.request'), search: query('reqID', reqID), isShown: reqID !== '' },
  ];
  return places.flatMap(({ end, title, search, isShown }) => {
    const entry = menu.flatMap(({ entries }) => entries).find(({ to: path }) => path.endsWith(end));
    if (!entry || !isShown || (entry.reads && !can(entry.reads))) return [];
    const run = () => tools.go({ title, detail: reqID, to: `${to(entry.to)}?${search}` });
    return [
      {
        id: `request ${end}`,
        title: t(entry.title),
        items: [{ id: `request ${end}`, title, detail: reqID, icon: entry.icon, run }],
      },
    ];
  });
}
