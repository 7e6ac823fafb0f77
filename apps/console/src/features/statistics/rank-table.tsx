import type { Received } from '@edgeloom/contract/endpoint.ts';
import { statistics } from '@edgeloom/contract/statistics/statistics.endpoints.ts';
import { Button } from '@mantine/core';
import { IconFileExport } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'react-router-dom';
import { cellOf, isNumber, type Column, type RowOf } from '../../components/resource-table/columns.tsx';
import { ColumnHead } from '../../components/resource-table/grid-head.tsx';
import { Pager } from '../../components/resource-table/pager.tsx';
import { useTableState } from '../../components/resource-table/table-state.ts';
import { call } from '../../lib/api.ts';
import { toastError } from '../../lib/errors.ts';
import { count, nothing, percent, time } from '../../lib/format.ts';
import { useLanguage, useT } from '../../lib/i18n.ts';
import { saveFile } from '../../lib/save-file.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { Loaded, NoData, Note, Panel } from '../../components/chart/panel.tsx';
import type { Statistics } from './use-statistics.ts';
import classes from './statistics.module.css';

type Row = RowOf<typeof statistics.rank>;
const noFilters: readonly string[] = [];

/** Domains by requests, traffic, hit rate or errors. Order and page are in the URL. */
export function RankTable({ state, pollMs }: { state: Statistics; pollMs: number | undefined }) {
  const t = useT();
  const language = useLanguage();
  const table = useTableState(statistics.rank, noFilters);
  const { page, pageSize } = table;
  const [sortBy, orderBy] = [sortKey(table.sortBy), table.orderBy === 'asc' ? ('asc' as const) : ('desc' as const)];
  const asked = { ...state.query, sortBy, orderBy };
  const result = useEndpoint(
    statistics.rank,
    { body: { ...asked, page, pageSize } },
    pollMs === undefined ? {} : { pollMs },
  );
  const [exporting, setExporting] = useState(false);
  const title = t('statistics.rank');

  const save = async () => {
    setExporting(true);
    try {
      saveFile(
        `${title} ${time(new Date())}.csv`,
        [await call(statistics.export, { body: { ...asked, language } })],
        'text/csv',
      );
    } catch (error) {
      toastError(error);
    } finally {
      setExporting(false);
    }
  };
  const ofDomain = (name: string) => {
    const search = new URLSearchParams(state.search);
    for (const key of ['site', 'tag', 'domain', 'noSite', 'page']) search.delete(key);
    search.set('domain', name);
    return `?${search}`;
  };
  const columns: readonly Column<Row>[] = [
    {
      key: 'domain',
      sort: false,
      render: ({ domain, isRemoved }) =>
        domain === '' ? (
          t(isRemoved ? 'statistics.removed' : 'statistics.noDomain')
        ) : (
          <Link to={ofDomain(domain)}>{domain}</Link>
        ),
    },
    { key: 'siteName', sort: false, priority: 2 },
    { key: 'requests', as: 'count' },
    { key: 'traffic', as: 'bytes' },
    {
      key: 'hitRate',
      align: 'right',
      priority: 2,
      render: ({ hitRate }) => (hitRate === null ? nothing : percent(hitRate)),
    },
    { key: 'toUpstream', as: 'count', sort: false, priority: 3 },
    { key: 'errors', as: 'count', priority: 2 },
  ];
  // An API of the release before counts no domains.
  const { total = 0, domains = 0 }: Partial<Received<typeof statistics.rank>> = result.data ?? {};
  return (
    <Panel
      title={title}
      beside={domains > 0 && <Note>{t('statistics.domains', { count: domains, rows: count(domains) })}</Note>}
      tools={
        total > 0 && (
          <Button
            variant="subtle"
            color="gray"
            size="xs"
            loading={exporting}
            leftSection={<IconFileExport size={15} stroke={1.6} />}
            onClick={() => void save()}
          >
            {t('statistics.export')}
          </Button>
        )
      }
    >
      <Loaded result={result}>
        {({ data }) =>
          data.length === 0 && page === 1 ? (
            <NoData />
          ) : (
            <div className={classes['wide']}>
              <table className={classes['table']}>
                <caption className="hidden-text">{title}</caption>
                <thead>
                  <tr>
                    {columns.map((column) => (
                      <ColumnHead key={column.key} column={column} words="statistics" state={table} />
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {data.map((row) => (
                    <tr key={`${row.siteID} ${row.domainID} ${row.isRemoved}`}>
                      {columns.map((column, i) => (
                        <td
                          key={column.key}
                          data-first={i === 0 || undefined}
                          data-number={isNumber(column) || undefined}
                          data-priority={column.priority}
                        >
                          {cellOf(column, row)}
                        </td>
                      ))}
                    </tr>
                  ))}
                </tbody>
              </table>
              <Pager state={table} total={total} />
            </div>
          )
        }
      </Loaded>
    </Panel>
  );
}

const keys = ['requests', 'traffic', 'hitRate', 'errors'] as const;
const sortKey = (name: string) => keys.find((key) => key === name) ?? 'requests';
