import { listSources, zoneListSources } from '@edgeloom/contract/list-sources/list-sources.endpoints.ts';
import { MAX_SOURCE_BYTES } from '@edgeloom/contract/list-sources/list-sources.ts';
import { IconRefresh, IconRss } from '@tabler/icons-react';
import { does, edit, remove } from '../../components/resource-table/actions.tsx';
import type { Column } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Status } from '../../components/status/status.tsx';
import { count } from '../../lib/format.ts';
import { t, useT } from '../../lib/i18n.ts';
import classes from './list-sources.module.css';
import { callsOf, type SourceOwner } from './list-source-calls.ts';
import { ListSourceForm, type ListSource } from './list-source-form.tsx';

const POLL_MS = 5000;

function stateOf({ enabled, error, checkedAt, isBlack, monitor }: ListSource) {
  if (!enabled) return 'off';
  if (error !== null) return 'failing';
  if (checkedAt === null) return 'waiting';
  return isBlack && monitor ? 'monitored' : 'ok';
}

function whyOf({ kind, enabled, error, status, entries }: ListSource): string | null {
  if (!enabled || error === null) return null;
  const megabytes = MAX_SOURCE_BYTES[kind] / 1_000_000;
  const why = t(`listSources.errors.${error}`, { status: String(status ?? ''), megabytes });
  return entries > 0 ? t('listSources.keeps', { why }) : why;
}

function State({ of: source }: { of: ListSource }) {
  useT();
  return <Status kind="listSource" value={stateOf(source)} why={whyOf(source)} />;
}

/** An error is shown as a whole, on as many lines as it needs. */
function Below({ of: source }: { of: ListSource }) {
  const t = useT();
  const why = whyOf(source);
  if (why !== null) return <div className={classes['why']}>{why}</div>;
  return t('listSources.summary', { kind: kindOf(source), entries: count(source.entries) });
}

const changesOf = ({ added, removed }: ListSource) => `+${count(added)} −${count(removed)}`;
const kindOf = ({ kind, isBlack }: ListSource) =>
  t(`listSources.kinds.${kind === 'crowdSec' ? kind : isBlack ? 'black' : 'white'}`);

const columns: Column<ListSource>[] = [
  { key: 'name', sort: false, flexible: true },
  { key: 'isBlack', sort: false, render: kindOf, text: kindOf, priority: 2 },
  { key: 'url', sort: false, flexible: true, priority: 3 },
  {
    key: 'state',
    title: 'common.fields.status',
    sort: false,
    render: (source) => <State of={source} />,
    text: (source) => t(`status.listSource.${stateOf(source)}`),
  },
  { key: 'entries', as: 'count', sort: false },
  { key: 'changes', sort: false, align: 'right', render: changesOf, text: changesOf, priority: 2 },
  { key: 'rejected', as: 'count', sort: false, priority: 2 },
  { key: 'fetchedAt', as: 'time', sort: false },
];

const removingOf = (owner: SourceOwner) =>
  'siteId' in owner
    ? remove<ListSource, typeof listSources.remove>(listSources.remove)
    : remove<ListSource, typeof zoneListSources.remove>(zoneListSources.remove);

const refreshingWords = {
  label: 'listSources.refresh',
  icon: IconRefresh,
  done: 'listSources.refreshing',
  applies: ({ enabled }: ListSource) => enabled,
  skips: 'listSources.isOff',
} as const;
const idsOf = (rows: readonly ListSource[]) => ({ ids: rows.map(({ id }) => id) });
const refreshingOf = (owner: SourceOwner) =>
  'siteId' in owner
    ? does<ListSource, typeof listSources.refresh>(listSources.refresh, {
        ...refreshingWords,
        send: (rows) => ({ params: owner, body: idsOf(rows) }),
      })
    : does<ListSource, typeof zoneListSources.refresh>(zoneListSources.refresh, {
        ...refreshingWords,
        send: (rows) => ({ params: owner, body: idsOf(rows) }),
      });

/** Lists that the control plane fetches from URLs and from CrowdSec. */
export function ListSourcesTab({ owner, create }: { owner: SourceOwner; create: React.ReactNode }) {
  const { list, update } = callsOf(owner);
  const removing = removingOf(owner);
  const refreshing = refreshingOf(owner);
  return (
    <ResourceTable
      endpoint={list}
      params={owner}
      words="listSources"
      columns={columns}
      caption="firewall.tabs.sources"
      pollMs={POLL_MS}
      row={(source) => [
        edit(<ListSourceForm owner={owner} value={source} />, {
          title: 'listSources.edit',
          can: update.can,
        }),
        refreshing,
        removing,
      ]}
      bulk={[refreshing, removing]}
      phone={(source) => ({
        below: <Below of={source} />,
        // A reason would take the width of the name.
        end: <Status kind="listSource" value={stateOf(source)} />,
      })}
      empty={{ icon: IconRss, action: create }}
    />
  );
}
