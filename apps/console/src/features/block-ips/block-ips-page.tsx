import { blockIPs } from '@edgeloom/contract/block-ips/block-ips.endpoints.ts';
import { blockCauses } from '@edgeloom/contract/ipset/ipset.ts';
import { sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { IconLockOpen, IconShieldOff } from '@tabler/icons-react';
import { Link } from 'react-router-dom';
import { Page } from '../../components/page/page.tsx';
import { does } from '../../components/resource-table/actions.tsx';
import type { Column, RowOf } from '../../components/resource-table/columns.tsx';
import type { Filter } from '../../components/resource-table/filter-chip.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Nothing, Time } from '../../components/values/values.tsx';
import { family } from '../../lib/family.ts';
import { tMaybe, useT } from '../../lib/i18n.ts';
import { siteAddress } from '../../lib/site-address.ts';
import { viewOfCause } from '../logs/log-row.ts';
import { OwnBlockNotice } from './own-block-notice.tsx';
import { UnblockMenu } from './unblock-menu.tsx';
import classes from './block-ips.module.css';

type Blocked = RowOf<typeof blockIPs.list>;

const POLL_MS = 5000;
const isOperator = family === 'client';

const causeOf = ({ cause }: Blocked) => tMaybe(`ipset.choices.causes.${cause}`) ?? cause;
const ruleOf = ({ rule }: Blocked) => (rule === null ? '' : (rule.name ?? rule.id));
const finderOf = ({ node, author }: Blocked) => (author === '' ? (node?.name ?? '') : author);

const columns: Column<Blocked>[] = [
  { key: 'ip', render: ({ ip }) => <code className={classes['ip']}>{ip}</code> },
  { key: 'cause', render: causeOf, text: causeOf },
  {
    key: 'rule',
    title: 'blockIPs.rule',
    sort: false,
    priority: 2,
    render: (row) => <Rule of={row} />,
    text: ruleOf,
  },
  {
    key: 'site',
    sort: false,
    flexible: true,
    render: (row) => <Where of={row} />,
    text: ({ site, zone }) => site?.name ?? zone?.name ?? '',
  },
  ...(isOperator
    ? [
        {
          key: 'finder',
          title: 'blockIPs.finder',
          sort: false,
          priority: 2,
          render: (row: Blocked) => finderOf(row) || <Nothing />,
          text: finderOf,
        } satisfies Column<Blocked>,
      ]
    : []),
  { key: 'since', as: 'time', priority: 2 },
  { key: 'until', title: 'blockIPs.until', as: 'time' },
];

/** The site that refuses the address, or where it was found before the whole zone refused it. */
function Where({ of: { site, zone, onlySite } }: { of: Blocked }) {
  const t = useT();
  if (site === null) return <>{zone?.name ?? <Nothing />}</>;
  return (
    <>
      <Link to={siteAddress(site)} className={classes['site'] ?? ''}>
        {site.name}
      </Link>
      {!onlySite && <small className={classes['muted']}> {t('blockIPs.wholeZone')}</small>}
    </>
  );
}

/** Opens the rules of the cause, where the site has a page for them. */
function Rule({ of: row }: { of: Blocked }) {
  const view = viewOfCause[row.cause];
  if (row.rule === null) return <Nothing />;
  if (view === undefined || row.site === null) return <>{ruleOf(row)}</>;
  return <Link to={siteAddress(row.site, view)}>{ruleOf(row)}</Link>;
}

const unblocking = does<Blocked, typeof blockIPs.remove>(blockIPs.remove, {
  label: 'ipset.unblock',
  icon: IconLockOpen,
  done: 'ipset.unblocked',
  refreshes: ['ipset'],
  send: (rows) => ({ body: { ids: rows.map(({ id }) => id) } }),
  undo: (rows) => [
    { ids: rows.map(({ id }) => id), endpoint: blockIPs.restore, send: (ids) => ({ body: { ids: [...ids] } }) },
  ],
});

const filters: Filter[] = [
  { key: 'causes', choices: blockCauses, many: true },
  { key: 'siteID', label: 'ipset.fields.site', meta: sites.meta },
  ...(isOperator ? [{ key: 'zoneID', label: 'blockIPs.zone', meta: zones.meta } satisfies Filter] : []),
];

/** Addresses that are blocked now, in all zones or at all sites of the reader. */
export function BlockIPsPage() {
  return (
    <Page title="blockIPs.title" actions={<UnblockMenu />}>
      <OwnBlockNotice />
      <ResourceTable
        endpoint={blockIPs.list}
        columns={columns}
        words="ipset"
        search="ips"
        sort="-since"
        filters={filters}
        pollMs={POLL_MS}
        row={() => [unblocking]}
        bulk={[unblocking]}
        phone={(row) => ({
          below: [causeOf(row), row.site?.name].filter(Boolean).join(' · '),
          end: <Time at={row.until} />,
        })}
        empty={{ icon: IconShieldOff, text: isOperator ? 'blockIPs.emptyZones' : 'blockIPs.emptySites' }}
      />
    </Page>
  );
}
