import { purge } from '@edgeloom/contract/purge/purge.endpoints.ts';
import { IconEraser, IconReceipt2 } from '@tabler/icons-react';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { act, remove, type RowAction } from '../../components/resource-table/actions.tsx';
import type { Column, RowOf } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Status } from '../../components/status/status.tsx';
import { t, tMaybe, useT } from '../../lib/i18n.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import { follow } from '../../stores/jobs.ts';
import { JobReceipts } from '../../components/receipts/job-receipts.tsx';
import { listed } from './purge-input.ts';
import classes from './purge.module.css';

type PurgeRow = RowOf<typeof purge.history>;

const columns: Column<PurgeRow>[] = [
  {
    key: 'urls',
    flexible: true,
    render: (row) => <What urls={textsOf(row)} />,
    text: (row) => textsOf(row).join(', '),
  },
  { key: 'type', render: (row) => kindOf(row), text: (row) => kindOf(row) },
  {
    key: 'state',
    render: ({ state }) => <Status kind="task" value={state} />,
    text: ({ state }) => t(`status.task.${state}`),
  },
  { key: 'createdBy', priority: 2 },
  { key: 'createdAt', as: 'time' },
];
const WHOLE_SITE = 0;
/** A purge of the whole site has no URLs. */
const textsOf = ({ type, urls }: PurgeRow) => (type === WHOLE_SITE ? [t('purge.scopes.site')] : urls);
const kindOf = ({ type, soft }: PurgeRow) => {
  const kind = tMaybe(`purge.kinds.${type}`) ?? String(type);
  return soft ? t('purge.softKind', { kind }) : kind;
};
const removing = remove<PurgeRow, typeof purge.removeRows>(purge.removeRows, {
  confirm: () => ({ points: [t('purge.removePoint')] }),
});

export function PurgeHistory({ siteId }: { siteId: string }) {
  const t = useT();
  const overlay = useOverlay();
  const again = useAction(purge.urls, { refreshes: ['jobs'] });
  const allAgain = useAction(purge.all, { refreshes: ['jobs'] });
  const show = (jobID: string) =>
    overlay(<JobReceipts siteId={siteId} jobID={jobID} />, { title: 'purge.receipts', wide: true });
  const purgeAgain = async ([row]: readonly PurgeRow[]) => {
    if (!row) return;
    const { urls, soft } = row;
    const type = Object.values(listed).find((one) => one.type === row.type)?.type ?? 1;
    const params = { siteId };
    const started = await (row.type === WHOLE_SITE
      ? allAgain.run({ params, query: { soft } })
      : again.run({ params, body: { type, urls, soft } }));
    if (!started) return;
    follow(started.jobID, siteId);
    show(started.jobID);
  };
  const actionsOf = ({ jobID }: PurgeRow): RowAction<PurgeRow>[] => [
    ...(jobID === null ? [] : [act<PurgeRow>({ label: 'purge.show', icon: IconReceipt2, run: () => show(jobID) })]),
    act<PurgeRow>({ label: 'purge.again', icon: IconEraser, can: purge.urls.can, run: purgeAgain }),
    removing,
  ];
  return (
    <div className={classes['log']}>
      <header className={classes['history']}>
        <h2 className={classes['title']}>{t('purge.history')}</h2>
        <p className={classes['why']}>{t('purge.historyWhy')}</p>
      </header>
      <ResourceTable
        endpoint={purge.history}
        params={{ siteId }}
        columns={columns}
        caption="purge.history"
        sort="-createdAt"
        counted={() => null}
        row={actionsOf}
        bulk={[removing]}
        phone={(row) => ({ below: <Status kind="task" value={row.state} /> })}
        empty={{ icon: IconEraser }}
      />
    </div>
  );
}

function What({ urls }: { urls: readonly string[] }) {
  const t = useT();
  return (
    <>
      {urls[0]}{' '}
      {urls.length > 1 && <span className={classes['more']}>{t('purge.more', { count: urls.length - 1 })}</span>}
    </>
  );
}
