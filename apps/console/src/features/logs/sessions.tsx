// Layer-4 sessions of a period. Period, sites, outcome and address are in the URL.
import { logs } from '@edgeloom/contract/logs/logs.endpoints.ts';
import { layer4Outcomes, type Layer4Outcome } from '@edgeloom/contract/statistics/layer4.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { Button, Select, TextInput } from '@mantine/core';
import { IconClockExclamation, IconPlugConnected, IconRefresh } from '@tabler/icons-react';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSearchParams } from 'react-router-dom';
import { NothingMatches, TableSkeleton } from '../../components/resource-table/table-states.tsx';
import { EmptyState, FailedState } from '../../components/states/states.tsx';
import { Pill } from '../../components/status/status.tsx';
import { Time } from '../../components/values/values.tsx';
import { call } from '../../lib/api.ts';
import { countryName } from '../../lib/countries.ts';
import { bytes, count, took } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { keyOf } from '../../lib/queries.ts';
import type { Tone } from '../../theme/tokens.ts';
import { faultOf, labelOf, normalized } from './filters.ts';
import { faultOfPeriod, readState, currentWindow, withFilter, withPeriod, type TimeWindow } from './log-state.ts';
import { PeriodChip } from './period-chip.tsx';
import { SiteChip } from './site-chip.tsx';
import classes from './logs.module.css';

type Page = Received<typeof logs.sessions> & { window: TimeWindow };
type Session = Page['data'][number];
type PageStart = { window: TimeWindow; before: { time: string; id: string } } | null;

const PAGE_SIZE = 100;
const tones: Readonly<Record<Layer4Outcome, Tone>> = { allowed: 'ok', dropped: 'held', failed: 'bad' };
const isOutcome = (text: string | null): text is Layer4Outcome => layer4Outcomes.some((outcome) => outcome === text);

export function Sessions() {
  const t = useT();
  const [search, setSearch] = useSearchParams();
  const { period, only } = readState(search);
  const asked = search.get('outcome');
  const outcome = isOutcome(asked) ? asked : null;
  const { remoteIP } = only;
  const fault = faultOfPeriod(period);
  const body = {
    ...(remoteIP && { remoteIP: [...remoteIP] }),
    ...(only.siteIDs && { siteIDs: [...only.siteIDs] }),
    ...(outcome !== null && { outcomes: [outcome] }),
  };
  const query = useInfiniteQuery({
    queryKey: [...keyOf(logs.sessions, { body: { ...body, startTime: '', endTime: '' } }), period],
    enabled: fault === null,
    initialPageParam: null as PageStart,
    queryFn: async ({ pageParam, signal }): Promise<Page> => {
      const window = pageParam?.window ?? currentWindow(period);
      const sent = { ...body, ...window, ...(pageParam && { before: pageParam.before }), pageSize: PAGE_SIZE };
      return { ...(await call(logs.sessions, { body: sent }, { signal })), window };
    },
    getNextPageParam: ({ data, window }): PageStart => {
      const last = data.at(-1);
      return last && data.length === PAGE_SIZE ? { window, before: { time: last.time, id: last.id } } : null;
    },
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
    gcTime: 0,
  });
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? [];
  const setOutcome = (value: string | null) =>
    setSearch((now) => {
      const next = new URLSearchParams(now);
      if (value === null) next.delete('outcome');
      else next.set('outcome', value);
      return next;
    });
  const setAddress = (values: readonly string[]) => setSearch((now) => withFilter(now, 'remoteIP', false, values));
  // One change: a second one would not see the first.
  const clear = () =>
    setSearch((now) => {
      const next = withFilter(withFilter(now, 'remoteIP', false, []), 'siteIDs', false, []);
      next.delete('outcome');
      return next;
    });
  return (
    <>
      <div className={classes['toolbar']}>
        <PeriodChip period={period} onChange={(next) => setSearch((now) => withPeriod(now, next))} />
        <SiteChip
          siteIDs={only.siteIDs}
          onChange={(values) => setSearch((now) => withFilter(now, 'siteIDs', false, values))}
        />
        <Select
          size="xs"
          w={150}
          clearable
          aria-label={t('logs.sessions.outcome')}
          placeholder={t('logs.sessions.outcome')}
          data={layer4Outcomes.map((value) => ({ value, label: t(`logs.sessions.outcomes.${value}`) }))}
          value={outcome}
          onChange={setOutcome}
        />
        <AddressField key={remoteIP?.join()} values={remoteIP ?? []} onChange={setAddress} />
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
    if (query.error)
      return (
        <FailedState
          error={query.error}
          retry={() => void query.refetch()}
          needs={logs.sessions.can}
          of={t('logs.sessions.title')}
        />
      );
    if (query.data === undefined) return <TableSkeleton columns={6} />;
    const filters = [
      // The chip has the name.
      ...(only.siteIDs ? [labelOf('siteIDs')] : []),
      ...(outcome === null ? [] : [t(`logs.sessions.outcomes.${outcome}`)]),
      ...(remoteIP ?? []),
    ];
    if (rows.length === 0 && filters.length > 0) return <NothingMatches filters={filters} onClear={clear} />;
    if (rows.length === 0)
      return (
        <EmptyState icon={IconPlugConnected} title={t('logs.sessions.empty')} text={t('logs.sessions.emptyText')} />
      );
    return (
      <SessionTable
        rows={rows}
        older={
          query.hasNextPage
            ? { load: () => void query.fetchNextPage({ cancelRefetch: false }), isLoading: query.isFetchingNextPage }
            : undefined
        }
      />
    );
  }
}

interface AddressFieldProps {
  values: readonly string[];
  onChange: (values: readonly string[]) => void;
}

/** Applied with Enter. */
function AddressField({ values, onChange }: AddressFieldProps) {
  const t = useT();
  const [text, setText] = useState(values.join(' '));
  const [error, setError] = useState<string | null>(null);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const asked = text.split(/[\s,]+/).flatMap((value) => normalized('remoteIP', value) || []);
        const fault = asked.map((value) => faultOf('remoteIP', value)).find((each) => each !== null) ?? null;
        setError(fault);
        if (fault === null) onChange(asked.slice(0, 50));
      }}
    >
      <TextInput
        size="xs"
        w={200}
        aria-label={t('logs.fields.remoteIP')}
        placeholder={t('logs.sessions.address')}
        value={text}
        error={error}
        maxLength={512}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setError(null);
        }}
      />
    </form>
  );
}

interface SessionTableProps {
  rows: readonly Session[];
  older: { load: () => void; isLoading: boolean } | undefined;
}

function SessionTable({ rows, older }: SessionTableProps) {
  const t = useT();
  return (
    <section
      className={classes['scroller']}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrollable regions need keyboard access
      tabIndex={0}
      aria-label={t('logs.sessions.title')}
    >
      <table className={`${classes['table']} ${classes['sessions']}`}>
        <caption className="hidden-text">{t('logs.sessions.title')}</caption>
        <thead>
          <tr>
            <th>{t('logs.fields.time')}</th>
            <th>{t('logs.sessions.outcome')}</th>
            <th>{t('logs.fields.siteIDs')}</th>
            <th>{t('logs.sessions.port')}</th>
            <th>{t('logs.fields.remoteIP')}</th>
            <th>{t('logs.sessions.traffic')}</th>
            <th>{t('logs.sessions.duration')}</th>
            <th>{t('logs.origin')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <td>
                <Time at={row.time} milliseconds />
              </td>
              <td>
                <Pill tone={tones[row.outcome]}>{t(`logs.sessions.outcomes.${row.outcome}`)}</Pill>
              </td>
              <td>{row.siteName}</td>
              <td>
                {row.port}/{row.protocol}
              </td>
              <td>
                {row.address}{' '}
                {row.country !== '' && (
                  <abbr className={classes['country']} title={countryName(row.country)}>
                    {row.country}
                  </abbr>
                )}
              </td>
              <td>{bytes(row.bytes + row.requestBytes)}</td>
              <td>{took(row.sessionTime)}</td>
              <td>{row.upstream === '' ? t('logs.noOrigin') : row.upstream}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div className={classes['end']}>
        {older ? (
          <Button size="xs" variant="default" loading={older.isLoading} onClick={older.load}>
            {t('logs.older')}
          </Button>
        ) : (
          t('logs.sessions.end', { count: rows.length, number: count(rows.length) })
        )}
      </div>
    </section>
  );
}
