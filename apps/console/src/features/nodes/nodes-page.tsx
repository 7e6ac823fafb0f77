import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { Page, useTab } from '../../components/page/page.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { InstallNode } from './install-node.tsx';
import { UpgradeBehind } from '../upgrades/version.tsx';
import { tally } from './node-states.ts';
import { NodesTable } from './nodes-table.tsx';
import classes from './nodes.module.css';
import { WaitingTable } from './waiting-table.tsx';

export function NodesPage() {
  const waiting = useEndpoint(nodes.uninitialized, { query: { pageSize: 1 } }, { pollMs: 5000 }).data?.total;
  const tabs = [
    { value: 'all', label: 'nodes.tabs.all' },
    { value: 'waiting', label: 'nodes.tabs.waiting', count: waiting },
  ] as const;
  const tab = useTab(tabs);
  return (
    <Page
      title="nodes.title"
      count={<Tally />}
      actions={
        <>
          <UpgradeBehind />
          <InstallNode />
        </>
      }
      tabs={tabs}
    >
      {tab === 'all' ? <NodesTable /> : <WaitingTable />}
    </Page>
  );
}

/** How many nodes have each state, counted by the server. */
function Tally() {
  const t = useT();
  const { data } = useEndpoint(nodes.counts, {}, { pollMs: 5000 });
  if (!data || data.total === 0) return null;
  return (
    <ul className={classes['tallies']} aria-label={t('nodes.perState')}>
      {tally(data.data).map((one) => (
        <li key={one.tone} className={classes['tally']}>
          <StatusMark tone={one.tone} label={t(`status.tone.${one.tone}`)} /> {count(one.count)}
        </li>
      ))}
    </ul>
  );
}
