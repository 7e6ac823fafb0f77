// Requests of a period in which the firewall found something. Period, category and action are in the URL.
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { logs } from '@edgeloom/contract/logs/logs.endpoints.ts';
import { WafAction } from '@edgeloom/contract/logs/waf.ts';
import { wafCategories } from '@edgeloom/contract/waf/waf.ts';
import { Button, Select } from '@mantine/core';
import { IconClockExclamation, IconRefresh, IconShieldCheck } from '@tabler/icons-react';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { Link, useSearchParams } from 'react-router-dom';
import { NothingMatches, TableSkeleton } from '../../components/resource-table/table-states.tsx';
import { EmptyState, FailedState } from '../../components/states/states.tsx';
import { Pill } from '../../components/status/status.tsx';
import { Time } from '../../components/values/values.tsx';
import { call } from '../../lib/api.ts';
import { count } from '../../lib/format.ts';
import { useLanguage, useT } from '../../lib/i18n.ts';
import { keyOf } from '../../lib/queries.ts';
import { hostAndPort } from './curl.ts';
import { ListEnd, type ListEndProps } from './log-list.tsx';
import { continues, nextPage, PAGE_SIZE, searchedTo, type LogPage, type PageStart } from './log-pages.ts';
import { currentWindow, faultOfPeriod, readState, withPeriod } from './log-state.ts';
import { PeriodChip } from './period-chip.tsx';
import { VisitorText } from './visitor-text.tsx';
import { Match } from './waf-explanation.tsx';
import classes from './logs.module.css';

type Finding = Received<typeof logs.waf>['data'][number];
type Page = LogPage<Finding>;

export function WafLog() {
  const t = useT();
  const [search, setSearch] = useSearchParams();
  const { period, only } = readState(search);
  const action = WafAction.options.find((value) => value === search.get('action')) ?? null;
  const category = wafCategories.find((value) => value === search.get('category')) ?? null;
  const fault = faultOfPeriod(period);
  const body = {
    ...(only.siteIDs && { siteIDs: [...only.siteIDs] }),
    ...(action !== null && { action }),
    ...(category !== null && { category }),
  };
  const query = useInfiniteQuery({
    queryKey: [...keyOf(logs.waf, { body: { ...body, startTime: '', endTime: '' } }), period],
    enabled: fault === null,
    initialPageParam: null as PageStart | null,
    queryFn: async ({ pageParam, signal }): Promise<Page> => {
      const { window, ...start } = pageParam ?? { window: currentWindow(period) };
      const sent = { ...body, ...window, ...start, pageSize: PAGE_SIZE };
      return { ...(await call(logs.waf, { body: sent }, { signal })), window };
    },
    getNextPageParam: nextPage,
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
    gcTime: 0,
  });
  const pages = query.data?.pages ?? [];
  const rows = pages.flatMap(({ data }) => data);
  const set = (values: Readonly<Record<string, string | null>>) =>
    setSearch((now) => {
      const next = new URLSearchParams(now);
      for (const [name, value] of Object.entries(values))
        if (value === null) next.delete(name);
        else next.set(name, value);
      return next;
    });
  return (
    <>
      <div className={classes['toolbar']}>
        <PeriodChip period={period} onChange={(next) => setSearch((now) => withPeriod(now, next))} />
        <Select
          size="xs"
          w={150}
          clearable
          aria-label={t('logs.waf.action')}
          placeholder={t('logs.waf.action')}
          data={WafAction.options.map((value) => ({ value, label: t(`logs.waf.actions.${value}`) }))}
          value={action}
          onChange={(value) => set({ action: value })}
        />
        <Select
          size="xs"
          w={200}
          clearable
          aria-label={t('logs.waf.category')}
          placeholder={t('logs.waf.category')}
          data={wafCategories.map((value) => ({ value, label: t(`wafs.categories.${value}`) }))}
          value={category}
          onChange={(value) => set({ category: value })}
        />
        <Button
          size="xs"
          variant="default"
          leftSection={<IconRefresh size={14} stroke={1.6} />}
          loading={query.isFetching && !query.isFetchingNextPage && query.data !== undefined}
          onClick={() => void query.refetch()}
        >
          {t('logs.reload')}
        </Button>
      </div>
      {content()}
    </>
  );

  function content() {
    if (fault !== null)
      return (
        <EmptyState
          icon={IconClockExclamation}
          tone="bad"
          title={t('logs.wrongPeriod')}
          text={t(fault === 'tooLong' ? 'logs.wrongPeriodLong' : 'logs.wrongPeriodOrder')}
        />
      );
    if (query.error && query.data === undefined)
      return (
        <FailedState
          error={query.error}
          retry={() => void query.refetch()}
          needs={logs.waf.can}
          of={t('logs.waf.log')}
        />
      );
    if (query.data === undefined) return <TableSkeleton columns={6} />;
    const filters = [
      ...(action === null ? [] : [t(`logs.waf.actions.${action}`)]),
      ...(category === null ? [] : [t(`wafs.categories.${category}`)]),
    ];
    if (rows.length === 0 && filters.length > 0 && !query.hasNextPage)
      return <NothingMatches filters={filters} onClear={() => set({ action: null, category: null })} />;
    if (rows.length === 0 && !query.hasNextPage)
      return <EmptyState icon={IconShieldCheck} title={t('logs.waf.empty')} text={t('logs.waf.emptyText')} />;
    return (
      <FindingTable
        rows={rows}
        end={{
          hasOlder: query.hasNextPage,
          loadingOlder: query.isFetchingNextPage,
          loadOlder: () => void query.fetchNextPage(),
          laterError: query.error,
          searchedTo: searchedTo(pages),
          continues: continues(pages),
        }}
      />
    );
  }
}

function FindingTable({ rows, end }: { rows: readonly Finding[]; end: ListEndProps['list'] }) {
  const t = useT();
  const language = useLanguage();
  return (
    <section
      className={classes['scroller']}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrollable regions need keyboard access
      tabIndex={0}
      aria-label={t('logs.waf.log')}
    >
      <table className={`${classes['table']} ${classes['sessions']}`}>
        <caption className="hidden-text">{t('logs.waf.log')}</caption>
        <thead>
          <tr>
            <th>{t('logs.fields.time')}</th>
            <th>{t('logs.waf.action')}</th>
            <th>{t('logs.rule')}</th>
            <th>{t('logs.waf.match')}</th>
            <th>{t('logs.target')}</th>
            <th>{t('logs.fields.remoteIP')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <td>
                <Time at={row.time} milliseconds />
              </td>
              <td>
                <Pill tone={row.action === 'blocked' ? 'bad' : 'busy'}>{t(`logs.waf.actions.${row.action}`)}</Pill>
              </td>
              <td title={row.ruleID}>{row.ruleName?.[language] ?? row.ruleID}</td>
              <td className={classes['wafCell']}>{row.waf && row.waf.place !== 'body' && <Match waf={row.waf} />}</td>
              <td className={classes['wafCell']}>
                <Link to={`?${addressOf(row)}`}>
                  <VisitorText text={`${hostAndPort(row)}${row.uri}`} />
                </Link>
              </td>
              <td>{row.address}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <ListEnd list={end} text={t('logs.waf.end', { count: rows.length, number: count(rows.length) })} />
    </section>
  );
}

/** The request among all requests of its site. */
const addressOf = ({ id, siteID }: Finding) =>
  new URLSearchParams({ ...(siteID !== null && { siteIDs: siteID }), cause: 'waf', request: id }).toString();
