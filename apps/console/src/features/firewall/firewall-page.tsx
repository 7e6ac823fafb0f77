import { blacklists, firewall, geos, userAgents, whitelists } from '@edgeloom/contract/firewall/firewall.endpoints.ts';
import { Button } from '@mantine/core';
import { IconBan, IconPlus, IconRobot, IconShieldCheck, IconWorld } from '@tabler/icons-react';
import type { ReactElement } from 'react';
import { useSite } from '../../components/frame/site-scope.ts';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Page, useTab } from '../../components/page/page.tsx';
import { edit, remove } from '../../components/resource-table/actions.tsx';
import type { Column } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { useMatchesColumn } from '../../components/rules/rule-matches.tsx';
import { Pill } from '../../components/status/status.tsx';
import { Nothing } from '../../components/values/values.tsx';
import { count } from '../../lib/format.ts';
import { useT, type Word } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import {
  GeoForm,
  ListForm,
  UserAgentForm,
  type AddressList,
  type GeoRule,
  type UserAgentRule,
} from './firewall-forms.tsx';
import { Layer4LimitConnForm, Layer4LimitsTab } from './layer4-limits-tab.tsx';
import { Layer4PositionForm, Layer4PositionsTab } from './layer4-positions-tab.tsx';
import { Layer4ListForm, Layer4Tab } from './layer4-tab.tsx';
import { ListSourceForm } from './list-source-form.tsx';
import { ListSourcesTab } from './list-sources-tab.tsx';
import { ReputationTab } from './reputation-tab.tsx';
import { useRegions } from './use-regions.ts';

/** The site's own firewall. */
export function FirewallPage() {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  const { id: siteId } = useSite();
  const { data } = useEndpoint(firewall.settings, { params: { siteId } });
  const of = (number: number | undefined) => (number === undefined ? {} : { count: number });
  const tabs = [
    { value: 'black', label: 'firewall.tabs.black', ...of(data?.blacklists) },
    { value: 'white', label: 'firewall.tabs.white', ...of(data?.whitelists) },
    { value: 'geo', label: 'firewall.tabs.geo', ...of(data?.geos) },
    { value: 'reputation', label: 'firewall.tabs.reputation' },
    { value: 'agents', label: 'firewall.tabs.agents', ...of(data?.userAgents) },
    { value: 'sources', label: 'firewall.tabs.sources' },
    { value: 'layer4Black', label: 'firewall.tabs.layer4Black' },
    { value: 'layer4White', label: 'firewall.tabs.layer4White' },
    { value: 'layer4Positions', label: 'firewall.tabs.layer4Positions' },
    { value: 'layer4LimitConns', label: 'firewall.tabs.layer4LimitConns' },
  ] as const;
  const tab = useTab(tabs);
  const form: Record<string, { label: Word; element: ReactElement }> = {
    black: { label: 'firewall.add.list', element: <ListForm siteId={siteId} isBlack /> },
    white: { label: 'firewall.add.list', element: <ListForm siteId={siteId} isBlack={false} /> },
    geo: { label: 'firewall.add.geo', element: <GeoForm siteId={siteId} /> },
    agents: { label: 'firewall.add.agent', element: <UserAgentForm siteId={siteId} /> },
    sources: { label: 'firewall.add.source', element: <ListSourceForm owner={{ siteId }} /> },
    layer4Black: { label: 'firewall.add.list', element: <Layer4ListForm siteId={siteId} isBlack /> },
    layer4White: { label: 'firewall.add.list', element: <Layer4ListForm siteId={siteId} isBlack={false} /> },
    layer4Positions: { label: 'firewall.add.position', element: <Layer4PositionForm siteId={siteId} /> },
    layer4LimitConns: { label: 'firewall.add.limitConn', element: <Layer4LimitConnForm siteId={siteId} /> },
  };
  const creating = form[tab];
  const create = creating && can(blacklists.create) && (
    <Button
      data-main-action
      leftSection={<IconPlus size={15} stroke={1.8} />}
      onClick={() => overlay(creating.element, { title: creating.label })}
    >
      {t(creating.label)}
    </Button>
  );
  return (
    <Page title="firewall.title" tabs={tabs} actions={create}>
      {tab === 'black' && <ListsTab key="black" siteId={siteId} isBlack create={create} />}
      {tab === 'white' && <ListsTab key="white" siteId={siteId} isBlack={false} create={create} />}
      {tab === 'geo' && <GeosTab siteId={siteId} create={create} />}
      {tab === 'reputation' && <ReputationTab siteId={siteId} />}
      {tab === 'agents' && <AgentsTab siteId={siteId} create={create} />}
      {tab === 'sources' && <ListSourcesTab owner={{ siteId }} create={create} />}
      {tab === 'layer4Black' && <Layer4Tab key={tab} siteId={siteId} isBlack create={create} />}
      {tab === 'layer4LimitConns' && <Layer4LimitsTab siteId={siteId} create={create} />}
      {tab === 'layer4Positions' && <Layer4PositionsTab siteId={siteId} create={create} />}
      {tab === 'layer4White' && <Layer4Tab key={tab} siteId={siteId} isBlack={false} create={create} />}
    </Page>
  );
}

interface TabProps {
  siteId: string;
  create: React.ReactNode;
}
const refreshes = ['firewall', 'sites'];

function ListsTab({ siteId, isBlack, create }: TabProps & { isBlack: boolean }) {
  const calls = isBlack ? blacklists : whitelists;
  const matches = useMatchesColumn<AddressList>();
  const columns: Column<AddressList>[] = [
    {
      key: 'ips',
      title: 'firewall.fields.ips',
      sort: false,
      flexible: true,
      render: (list) => <Entries list={list} />,
      text: ({ ips }) => ips.join(', '),
    },
    {
      key: 'count',
      title: 'firewall.fields.count',
      sort: false,
      align: 'right',
      render: ({ ips }) => count(ips.length),
      text: ({ ips }) => String(ips.length),
    },
    { key: 'memo', sort: false, title: 'common.fields.memo' },
    {
      key: 'url',
      title: 'firewall.fields.url',
      sort: false,
      priority: 2,
      render: ({ url }) => url.join(', ') || <Nothing />,
      text: ({ url }) => url.join(', '),
    },
    {
      key: 'enabled',
      title: 'common.fields.status',
      sort: false,
      render: (row) => <State of={row} />,
      text: ({ enabled }) => String(enabled),
    },
    // The log does not name allow lists.
    ...(isBlack ? matches : []),
    { key: 'updatedAt', as: 'time', priority: 3 },
  ];
  const removing = isBlack
    ? remove<AddressList, typeof blacklists.remove>(blacklists.remove, { refreshes })
    : remove<AddressList, typeof whitelists.remove>(whitelists.remove, { refreshes });
  return (
    <ResourceTable
      endpoint={calls.list}
      params={{ siteId }}
      columns={columns}
      search="keyword"
      caption={isBlack ? 'firewall.tabs.black' : 'firewall.tabs.white'}
      row={(list) => [
        edit(<ListForm siteId={siteId} isBlack={isBlack} value={list} />, { can: calls.update.can }),
        removing,
      ]}
      bulk={[removing]}
      phone={(list) => ({ below: list.memo, end: <State of={list} /> })}
      empty={{ icon: isBlack ? IconBan : IconShieldCheck, action: create }}
    />
  );
}

function Entries({ list: { ips } }: { list: AddressList }) {
  return (
    <>
      {ips.slice(0, 3).join(', ')}
      {ips.length > 3 && ` +${count(ips.length - 3)}`}
    </>
  );
}

function GeosTab({ siteId, create }: TabProps) {
  const { nameOf } = useRegions();
  const t = useT();
  const namesOf = ({ geoIDs }: GeoRule) => geoIDs.map(nameOf).join(', ');
  const columns: Column<GeoRule>[] = [
    { key: 'geoIDs', title: 'firewall.fields.geoIDs', sort: false, flexible: true, render: namesOf, text: namesOf },
    {
      key: 'isBlack',
      title: 'firewall.fields.isBlack',
      sort: false,
      render: ({ isBlack }) => t(isBlack ? 'firewall.modes.block' : 'firewall.modes.allow'),
    },
    ...useReactionColumns<GeoRule>(),
  ];
  const removing = remove<GeoRule, typeof geos.remove>(geos.remove, { refreshes });
  return (
    <ResourceTable
      endpoint={geos.list}
      params={{ siteId }}
      columns={columns}
      caption="firewall.tabs.geo"
      row={(rule) => [edit(<GeoForm siteId={siteId} value={rule} />, { can: geos.update.can }), removing]}
      bulk={[removing]}
      phone={(rule) => ({ below: <Reaction of={rule} />, end: <State of={rule} /> })}
      empty={{ icon: IconWorld, action: create }}
    />
  );
}

function AgentsTab({ siteId, create }: TabProps) {
  const columns: Column<UserAgentRule>[] = [
    { key: 'userAgentRegex', title: 'firewall.fields.userAgentRegex', sort: false, flexible: true },
    ...useReactionColumns<UserAgentRule>(),
  ];
  const removing = remove<UserAgentRule, typeof userAgents.remove>(userAgents.remove, { refreshes });
  return (
    <ResourceTable
      endpoint={userAgents.list}
      params={{ siteId }}
      columns={columns}
      caption="firewall.tabs.agents"
      row={(rule) => [edit(<UserAgentForm siteId={siteId} value={rule} />, { can: userAgents.update.can }), removing]}
      bulk={[removing]}
      phone={(rule) => ({ below: <Reaction of={rule} />, end: <State of={rule} /> })}
      empty={{ icon: IconRobot, action: create }}
    />
  );
}

interface Reacting {
  id: string;
  urlRegex: string;
  blockType: number;
  monitor: boolean;
  enabled: boolean;
}
const useReactionColumns = <Row extends Reacting>(): Column<Row>[] => [
  { key: 'urlRegex', title: 'firewall.fields.urlRegex', sort: false, priority: 2 },
  {
    key: 'blockType',
    title: 'firewall.fields.blockType',
    sort: false,
    render: (row) => <Reaction of={row} />,
    text: ({ blockType }) => String(blockType),
  },
  {
    key: 'enabled',
    title: 'common.fields.status',
    sort: false,
    render: (row) => <State of={row} />,
    text: ({ enabled }) => String(enabled),
  },
  ...useMatchesColumn<Row>(),
  { key: 'updatedAt', as: 'time', priority: 3 },
];

const blockTypes = ['0', '1', '2', '3', '4'] as const;

function Reaction({ of: { blockType } }: { of: Pick<Reacting, 'blockType'> }) {
  const t = useT();
  return t(`firewall.blockTypes.${blockTypes[blockType] ?? '0'}`);
}

function State({ of: { enabled, monitor } }: { of: Pick<Reacting, 'enabled' | 'monitor'> }) {
  const t = useT();
  if (!enabled) return <Pill tone="off">{t('common.off')}</Pill>;
  return monitor ? <Pill tone="warn">{t('firewall.monitored')}</Pill> : <Pill tone="ok">{t('common.on')}</Pill>;
}
