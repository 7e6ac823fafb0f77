import { ApiError } from '@edgeloom/contract/client.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { Button } from '@mantine/core';
import { IconMapPins, IconPencil, IconPlus } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'react-router-dom';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Page, useTab } from '../../components/page/page.tsx';
import { Await } from '../../components/states/await.tsx';
import { EmptyState } from '../../components/states/states.tsx';
import { Pill } from '../../components/status/status.tsx';
import { count } from '../../lib/format.ts';
import { useLanguage, useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { useRouteParams } from '../../lib/use-route-params.ts';
import { zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import type { Settings } from '../zone-settings/draft.ts';
import { AntiCCTab } from '../zone-settings/anti-cc-tab.tsx';
import { FirewallTab } from '../zone-settings/firewall-tab.tsx';
import { AddListSource, ZoneListSourcesTab } from '../firewall/zone-list-sources-tab.tsx';
import { IpsetTab } from '../zone-settings/ipset-tab.tsx';
import { NginxTab } from '../zone-settings/nginx-tab.tsx';
import { ProtocolsTab } from '../zone-settings/protocols-tab.tsx';
import { ResourceTab } from '../zone-settings/resource-tab.tsx';
import { SwitchesTab } from '../zone-settings/switches-tab.tsx';
import { VersionsTab } from '../zone-settings/versions-tab.tsx';
import { preheatCaches } from '@edgeloom/contract/preheat-caches/preheat-caches.endpoints.ts';
import { PreheatCachesForm, PreheatCachesTab } from '../preheat-caches/preheat-caches-tab.tsx';
import { messageText } from '../rollouts/format.ts';
import { zonePorts } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { KeyTab } from '../zone-keys/key-tab.tsx';
import { PortForm } from './port-form.tsx';
import { PortsTab } from './ports-tab.tsx';
import { ZoneForm, type Zone } from './zone-form.tsx';
import classes from './zones.module.css';

interface ZonePageProps {
  /** Nodes are another feature, so the console passes their tab. */
  nodesTab: (zoneId: string) => ReactNode;
}

export function ZonePage({ nodesTab }: ZonePageProps) {
  const t = useT();
  const { zoneId } = useRouteParams('zoneId');
  const found = useEndpoint(zones.get, { params: { zoneId } });
  if (found.error instanceof ApiError && found.error.status === 404)
    return (
      <Page title="zones.title">
        <EmptyState icon={IconMapPins} title={t('zones.goneTitle')} />
      </Page>
    );
  return (
    <Await result={found} page="zones.title">
      {(zone) => <Loaded key={zone.id} zone={zone} nodesTab={nodesTab} />}
    </Await>
  );
}

function Loaded({ zone, nodesTab }: { zone: Zone } & ZonePageProps) {
  const t = useT();
  const can = useCan();
  const language = useLanguage();
  const overlay = useOverlay();
  const tabs = [
    { value: 'ports', label: 'zones.tabs.ports', count: zone.ports.length },
    { value: 'nodes', label: 'zones.tabs.nodes', count: zone.nodeCount },
    { value: 'nginx', label: 'zones.tabs.nginx' },
    { value: 'resources', label: 'zones.tabs.resources' },
    { value: 'preheat', label: 'zones.tabs.preheat' },
    { value: 'https', label: 'zones.tabs.https' },
    { value: 'firewall', label: 'zones.tabs.firewall' },
    { value: 'ipset', label: 'zones.tabs.ipset' },
    { value: 'sources', label: 'firewall.tabs.sources' },
    { value: 'anticc', label: 'zones.tabs.antiCC' },
    { value: 'switches', label: 'zones.tabs.switches' },
    { value: 'key', label: 'zones.tabs.key' },
    { value: 'versions', label: 'zones.tabs.versions' },
  ] as const;
  const tab = useTab(tabs);
  const settings = useEndpoint(zoneSettings.get, { params: { zoneId: zone.id } }, { pollMs: 5000 });
  const { trial = null, withdrawn = null } = settings.data ?? {};
  return (
    <Page
      title="zones.title"
      name={zone.name}
      facts={
        <>
          <Pill tone="off">
            {t('zones.fields.serial')} {count(zone.serial)}
          </Pill>
          {trial && (
            <Pill tone="busy">
              {t('zoneSettings.trial', { version: trial.version, nodes: trial.nodes, of: trial.of })}
            </Pill>
          )}
          {withdrawn && (
            <Link
              to="?tab=versions"
              className={classes['rolledBack'] ?? ''}
              title={messageText(withdrawn, t, language) ?? ''}
            >
              <Pill tone="bad">{t('zoneSettings.rolledBack', { version: withdrawn.version })}</Pill>
            </Link>
          )}
          {zone.memo && <span>{zone.memo}</span>}
        </>
      }
      actions={
        <>
          {can(zones.update) && (
            <Button
              variant="default"
              leftSection={<IconPencil size={15} stroke={1.6} />}
              onClick={() => overlay(<ZoneForm value={zone} />, { title: 'zones.edit' })}
            >
              {t('common.edit')}
            </Button>
          )}
          {tab === 'ports' && can(zonePorts.create) && (
            <Button
              data-main-action
              leftSection={<IconPlus size={15} stroke={1.8} />}
              onClick={() => overlay(<PortForm zoneId={zone.id} />, { title: 'zonePorts.create' })}
            >
              {t('zonePorts.create')}
            </Button>
          )}
          {tab === 'preheat' && can(preheatCaches.create) && (
            <Button
              data-main-action
              leftSection={<IconPlus size={15} stroke={1.8} />}
              onClick={() => overlay(<PreheatCachesForm zoneId={zone.id} />, { title: 'preheatCaches.create' })}
            >
              {t('preheatCaches.create')}
            </Button>
          )}
          {tab === 'sources' && <AddListSource zoneId={zone.id} />}
        </>
      }
      tabs={tabs}
    >
      {tab === 'ports' && <PortsTab zoneId={zone.id} />}
      {tab === 'nodes' && nodesTab(zone.id)}
      {tab === 'preheat' && <PreheatCachesTab zoneId={zone.id} />}
      {tab === 'sources' && <ZoneListSourcesTab zoneId={zone.id} />}
      {tab === 'key' && <KeyTab zoneId={zone.id} />}
      {tab in settingTabs && (
        <Await result={settings}>{(set) => <SettingTab tab={tab} zoneId={zone.id} settings={set} />}</Await>
      )}
    </Page>
  );
}

const settingTabs = {
  nginx: NginxTab,
  resources: ResourceTab,
  https: ProtocolsTab,
  firewall: FirewallTab,
  ipset: IpsetTab,
  anticc: AntiCCTab,
  switches: SwitchesTab,
  versions: VersionsTab,
};

function SettingTab({ tab, zoneId, settings }: { tab: string; zoneId: string; settings: Settings }) {
  const found = Object.entries(settingTabs).find(([name]) => name === tab);
  if (!found) return null;
  const [, Tab] = found;
  return <Tab zoneId={zoneId} settings={settings} />;
}
