import { LOGS_COUNTED } from '@edgeloom/contract/logs/logs.ts';
import { logs } from '@edgeloom/contract/logs/logs.endpoints.ts';
import { statistics } from '@edgeloom/contract/statistics/statistics.endpoints.ts';
import { Button, Drawer } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconClockExclamation, IconListSearch, IconRefresh } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Page, useTab } from '../../components/page/page.tsx';
import { NothingMatches, TableSkeleton } from '../../components/resource-table/table-states.tsx';
import { EmptyState, FailedState } from '../../components/states/states.tsx';
import { clock, count, relative } from '../../lib/format.ts';
import { useLanguage, useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useLetterKeys } from '../../lib/use-letter-keys.ts';
import { usePhone } from '../../lib/use-phone.ts';
import { filters, inWords, labelOf } from './filters.ts';
import { Histogram, useFigures } from './histogram.tsx';
import { totals } from './histogram-option.ts';
import { LogLines, LogTable, type ListedRows } from './log-list.tsx';
import { ExportMenu } from './export-menu.tsx';
import { countOf } from './log-pages.ts';
import type { LogRow } from './log-row.ts';
import { faultOfPeriod, questionOf, type LogState } from './log-state.ts';
import { logTabs } from './log-tabs.ts';
import { periodInWords } from './period-chip.tsx';
import { RequestPanel } from './request-panel.tsx';
import { Sessions } from './sessions.tsx';
import { LiveSwitch, PauseButton, TailState } from './tail-controls.tsx';
import { Toolbar } from './toolbar.tsx';
import { useLogPage, type LogPageState } from './use-log-page.ts';
import { useLogRows, type LogRows } from './use-log-rows.ts';
import { useTail, type Tail } from './use-tail.ts';
import { WafLog } from './waf-log.tsx';
import classes from './logs.module.css';

/** Narrower pages show the request in a drawer. */
const WIDE = '(min-width: 1180px)';

export function LogsPage() {
  const tab = useTab(logTabs);
  if (tab === 'requests') return <Requests />;
  return tab === 'waf' ? <WafLog /> : <Sessions />;
}

/** Requests of a period, filtered, with each request's details. */
function Requests() {
  const t = useT();
  const can = useCan();
  const phone = usePhone();
  const isWide = useMediaQuery(WIDE, undefined, { getInitialValueInEffect: false });
  const page = useLogPage();
  const { state, open } = page;
  const fault = faultOfPeriod(state.period);
  const tail = useTail(state);
  const { isLive } = state;
  const query = questionOf(state);
  const list = useLogRows(logs.access, { ...query, mayEndEarly: true }, state.period, fault === null && !isLive);
  const rows = isLive ? tail.rows : list.rows;
  const hasFigures = can(statistics.timeSeries) && fault === null && !isLive;
  const figures = useFigures(state, list.first?.window, hasFigures, list.at);
  const { request } = state;

  const step = (by: 1 | -1) => {
    const at = rows.findIndex(({ id }) => id === request);
    const next = at < 0 ? undefined : rows[at + by];
    if (next) open(next.id, { replace: true });
  };
  const close = () => {
    open(null);
    if (request !== null) document.querySelector<HTMLElement>(`tr[data-row="${CSS.escape(request)}"]`)?.focus();
  };
  useLetterKeys(request === null ? {} : { Escape: close, '[': () => step(-1), ']': () => step(1) });

  const shown = {
    list: isLive ? liveList(tail) : list,
    openID: request,
    addressOf: page.addressOf,
    onOpen: (id: string) => open(id),
  };
  const panel = request !== null && (
    <RequestPanel
      id={request}
      row={rows.find(({ id }) => id === request)}
      onFilter={page.add}
      {...(isWide && { onClose: close })}
    />
  );
  return (
    <Page
      title="logs.title"
      tabs={logTabs}
      count={
        isLive ? (
          <TailState tail={tail} />
        ) : (
          <Counted state={state} list={list} figures={hasFigures ? figures.data : undefined} />
        )
      }
      actions={
        <>
          {!isLive && <Newest state={state} list={list} />}
          {can(logs.tail) && <LiveSwitch page={page} />}
          {isLive ? (
            <PauseButton tail={tail} />
          ) : (
            <>
              <Button
                variant="default"
                leftSection={<IconRefresh size={15} stroke={1.6} />}
                loading={list.loading && list.first !== undefined}
                onClick={list.reload}
              >
                {t('logs.reload')}
              </Button>
              <ExportMenu
                period={state.period}
                bodyOf={(window, format) => ({ type: 'access', format, query: { ...query, ...window } })}
              />
            </>
          )}
        </>
      }
    >
      <Toolbar page={page} />
      {hasFigures && <Histogram state={state} result={figures} onNarrow={page.setPeriod} />}
      <div className={classes['split']}>
        <div className={classes['list']}>
          {isLive || fault === null ? (
            <Rows page={page} list={list} isEmptyTail={isLive && rows.length === 0} isLive={isLive}>
              {phone ? <LogLines {...shown} /> : <LogTable {...shown} />}
            </Rows>
          ) : (
            <EmptyState
              icon={IconClockExclamation}
              tone="bad"
              title={t('logs.wrongPeriod')}
              text={t(fault === 'tooLong' ? 'logs.wrongPeriodLong' : 'logs.wrongPeriodOrder')}
              action={
                <Button variant="default" onClick={() => page.setPeriod({ last: '1h' })}>
                  {t('logs.last.1h')}
                </Button>
              }
            />
          )}
        </div>
        {isWide && panel && (
          <section className={classes['panel']} aria-label={t('logs.request')}>
            {panel}
          </section>
        )}
      </div>
      {!isWide && (
        <Drawer
          opened={request !== null}
          onClose={close}
          title={t('logs.request')}
          size={phone ? '100%' : 480}
          padding={0}
          classNames={{ header: classes['drawerHead'] ?? '' }}
          closeButtonProps={{ 'aria-label': t('common.close') }}
        >
          {panel}
        </Drawer>
      )}
    </Page>
  );
}

interface RowsProps {
  page: LogPageState;
  list: LogRows<LogRow>;
  isLive: boolean;
  isEmptyTail: boolean;
  children: ReactNode;
}

function Rows({ page, list, isLive, isEmptyTail, children }: RowsProps) {
  const t = useT();
  if (isEmptyTail)
    return <EmptyState icon={IconListSearch} title={t('logs.live.empty')} text={t('logs.live.emptyText')} />;
  if (isLive) return children;
  if (list.error)
    return <FailedState error={list.error} retry={list.retry} needs={logs.access.can} of={t('logs.title')} />;
  if (list.first === undefined) return <TableSkeleton columns={6} />;
  if (list.rows.length > 0 || list.hasOlder) return children;
  if (page.filtered) return <NothingMatches filters={filtersInWords(page.state)} onClear={page.clear} />;
  return <EmptyState icon={IconListSearch} title={t('logs.empty.title')} text={t('logs.empty.text')} />;
}

const liveList = ({ key, rows }: Tail): ListedRows => ({
  key,
  rows,
  first: undefined,
  loading: false,
  isLive: true,
  isDimmed: false,
  hasOlder: false,
  loadingOlder: false,
  loadOlder: () => undefined,
  searchedTo: null,
  continues: false,
  laterError: null,
});

/** Names of ids are shown by the chips. */
const filtersInWords = ({ only, not }: LogState) => [
  ...(only.noSite ? [labelOf('noSite')] : []),
  ...filters.flatMap(({ key, meta }) =>
    [false, true].flatMap((isNot) => {
      const values = (isNot ? not : only)[key] ?? [];
      if (meta) return values.length > 0 ? [labelOf(key)] : [];
      return values.map((value) => inWords(key, isNot, value));
    }),
  ),
];

interface CountedProps {
  state: LogState;
  list: LogRows<LogRow>;
  figures: Parameters<typeof totals>[0] | undefined;
}

/** `Last hour · 48,210 requests`. The API counts matches up to a limit; statistics count all requests. */
function Counted({ state, list, figures }: CountedProps) {
  const t = useT();
  const period = periodInWords(state.period);
  if (list.first === undefined) return <>{period}</>;
  const { count: total, isMore } = countOf(list.pages, LOGS_COUNTED);
  const measured = figures && isMore && Object.keys({ ...state.only, ...state.not }).length === 0;
  const sum = measured ? totals(figures).reduce((all, { total: some }) => all + (some ?? 0), 0) : 0;
  if (isMore && sum === 0 && total === 0)
    return (
      <>
        {period} · {t('logs.noneYet')}
      </>
    );
  const number = sum > total ? count(sum) : isMore ? `${count(total)}+` : count(total);
  return (
    <>
      {period} · {t('logs.requests', { count: Math.max(sum, total) + (isMore ? 1 : 0), number })}
    </>
  );
}

/** How late the newest row is, for a period that ends now. */
function Newest({ state: { period }, list }: { state: LogState; list: LogRows<LogRow> }) {
  const t = useT();
  const language = useLanguage();
  const [newest] = list.rows;
  if (!('last' in period) || newest === undefined) return null;
  return (
    <span className={classes['newest']}>
      {t('logs.newest', {
        at: clock(new Date(list.at)),
        age: relative(new Date(Math.min(list.at, Date.parse(newest.time))), new Date(list.at), language),
      })}
    </span>
  );
}
