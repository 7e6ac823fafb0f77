// The frame of the tabs beside the requests: reload and export in the head, a table, and lines on phones.
import { Button } from '@mantine/core';
import { IconClockExclamation, IconRefresh } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Page } from '../../components/page/page.tsx';
import { NothingMatches, TableSkeleton } from '../../components/resource-table/table-states.tsx';
import { EmptyState, FailedState } from '../../components/states/states.tsx';
import { useT } from '../../lib/i18n.ts';
import { usePhone } from '../../lib/use-phone.ts';
import { ExportMenu, type ExportMenuProps } from './export-menu.tsx';
import { ListEnd } from './log-list.tsx';
import { faultOfPeriod } from './log-state.ts';
import { logTabs } from './log-tabs.ts';
import type { LogRows } from './use-log-rows.ts';
import classes from './logs.module.css';

interface LogTabProps extends ExportMenuProps {
  /** Names the table. */
  title: string;
  list: LogRows<unknown>;
  /** Permission of the search. */
  needs: string;
  toolbar: ReactNode;
  /** Filters in words. */
  filters: readonly string[];
  onClear: () => void;
  empty: ReactNode;
  children: ReactNode;
}

export function LogTab(props: LogTabProps) {
  const { title, list, needs, toolbar, filters, onClear, empty, children, ...exported } = props;
  const t = useT();
  return (
    <Page
      title="logs.title"
      tabs={logTabs}
      actions={
        <>
          <Button
            variant="default"
            leftSection={<IconRefresh size={15} stroke={1.6} />}
            loading={list.loading && list.first !== undefined}
            onClick={list.reload}
          >
            {t('logs.reload')}
          </Button>
          <ExportMenu {...exported} />
        </>
      }
    >
      <div className={classes['toolbar']}>{toolbar}</div>
      {content()}
    </Page>
  );

  function content() {
    const fault = faultOfPeriod(exported.period);
    if (fault !== null)
      return (
        <EmptyState
          icon={IconClockExclamation}
          tone="bad"
          title={t('logs.wrongPeriod')}
          text={t(fault === 'tooLong' ? 'logs.wrongPeriodLong' : 'logs.wrongPeriodOrder')}
        />
      );
    if (list.error) return <FailedState error={list.error} retry={list.retry} needs={needs} of={title} />;
    if (list.first === undefined) return <TableSkeleton columns={6} />;
    if (list.rows.length > 0 || list.hasOlder) return children;
    if (filters.length > 0) return <NothingMatches filters={filters} onClear={onClear} />;
    return empty;
  }
}

interface LogRowsFrameProps<Row> {
  title: string;
  list: LogRows<Row>;
  columns: readonly string[];
  renderCells: (row: Row) => ReactNode;
  /** A LogLine, for phones. */
  renderLine: (row: Row) => ReactNode;
  /** The note that no older rows exist. */
  end: string;
}

export function LogRowsFrame<Row extends { id: string }>(props: LogRowsFrameProps<Row>) {
  const { title, list, columns, renderCells, renderLine, end } = props;
  const phone = usePhone();
  const isDimmed = list.isDimmed || undefined;
  if (phone)
    return (
      <div className={classes['lines']} data-dimmed={isDimmed}>
        <ul aria-label={title}>{list.rows.map(renderLine)}</ul>
        <ListEnd list={list} text={end} />
      </div>
    );
  return (
    <section
      className={classes['scroller']}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrollable regions need keyboard access
      tabIndex={0}
      aria-label={title}
      data-dimmed={isDimmed}
    >
      <table className={`${classes['table']} ${classes['wide']}`}>
        <caption className="hidden-text">{title}</caption>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name}>{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {list.rows.map((row) => (
            <tr key={row.id}>{renderCells(row)}</tr>
          ))}
        </tbody>
      </table>
      <ListEnd list={list} text={end} />
    </section>
  );
}
