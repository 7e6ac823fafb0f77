import { logExports } from '@edgeloom/contract/log-exports/log-exports.endpoints.ts';
import { EXPORT_DAYS_KEPT } from '@edgeloom/contract/log-exports/log-exports.ts';
import { IconDownload, IconFileDownload, IconRefresh } from '@tabler/icons-react';
import { Page } from '../../components/page/page.tsx';
import { act, does, remove } from '../../components/resource-table/actions.tsx';
import type { Column, RowOf } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Status } from '../../components/status/status.tsx';
import { call } from '../../lib/api.ts';
import { toastError } from '../../lib/errors.ts';
import { count, percent, time } from '../../lib/format.ts';
import { t, useT } from '../../lib/i18n.ts';
import { saveBlob } from '../../lib/save-file.ts';

type LogExport = RowOf<typeof logExports.list>;

const POLL_MS = 3000;

const columns: Column<LogExport>[] = [
  { key: 'createdAt', as: 'time' },
  { key: 'log', sort: false, render: ({ type }) => t(`logExports.logs.${type}`) },
  {
    key: 'period',
    sort: false,
    flexible: true,
    render: ({ query }) => t('logExports.from', { from: time(query.startTime), to: time(query.endTime) }),
  },
  { key: 'format', sort: false, priority: 2, render: ({ format }) => t(`logs.export.formats.${format}`) },
  {
    key: 'status',
    render: (row) => <State row={row} />,
    text: ({ status }) => t(`status.logExport.${status}`),
  },
  { key: 'rows', as: 'count' },
  { key: 'bytes', as: 'bytes', sort: false, priority: 2 },
  { key: 'expiresAt', as: 'time', sort: false, priority: 2 },
];

/** The share while it is written, and that the file reached its limit. */
function State({ row: { status, progress, isCut } }: { row: LogExport }) {
  const t = useT();
  const text = status === 'processing' ? { text: t('logExports.progress', { share: percent(progress) }) } : {};
  return <Status kind="logExport" value={status} {...text} why={isCut ? t('logExports.cut') : null} />;
}

const download = act<LogExport>({
  label: 'logExports.download',
  icon: IconDownload,
  can: logExports.file.can,
  run: async ([row]) => {
    if (!row) return;
    try {
      const name = `${t('logExports.fileName')} ${t(`logExports.logs.${row.type}`)} ${time(row.query.startTime)}`;
      saveBlob(`${name}.${row.format}.gz`, await call(logExports.file, { params: { id: row.id } }));
    } catch (error) {
      toastError(error);
    }
  },
});
const retry = does<LogExport, typeof logExports.retry>(logExports.retry, {
  label: 'logExports.retry',
  icon: IconRefresh,
  done: 'logExports.retried',
  send: (rows) => ({ body: { ids: rows.map(({ id }) => id) } }),
});
const removing = remove<LogExport, typeof logExports.remove>(logExports.remove, {
  confirm: () => ({ points: [t('shared.confirm.final')] }),
});

/** Files of logs, which are written in the background. The tabs of the Logs page start them. */
export function LogExportsPage() {
  const t = useT();
  return (
    <Page title="logExports.title" facts={<span>{t('logExports.hint', { days: EXPORT_DAYS_KEPT })}</span>}>
      <ResourceTable
        endpoint={logExports.list}
        columns={columns}
        sort="-createdAt"
        pollMs={POLL_MS}
        row={({ status }) => [
          ...(status === 'success' ? [download] : []),
          ...(status === 'fail' ? [retry] : []),
          removing,
        ]}
        bulk={[removing]}
        phone={(row) => ({
          below: (
            <>
              {t(`logExports.logs.${row.type}`)} <State row={row} />
            </>
          ),
          end: count(row.rows),
        })}
        empty={{ icon: IconFileDownload }}
      />
    </Page>
  );
}
