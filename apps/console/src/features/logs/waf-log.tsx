// Requests of a period in which the firewall found something. Period, sites, category and action are in the URL.
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { logs } from '@edgeloom/contract/logs/logs.endpoints.ts';
import { WafAction } from '@edgeloom/contract/logs/waf.ts';
import { wafCategories } from '@edgeloom/contract/waf/waf.ts';
import { Button, Select } from '@mantine/core';
import { IconClockExclamation, IconRefresh, IconShieldCheck } from '@tabler/icons-react';
import { Link, useSearchParams } from 'react-router-dom';
import { NothingMatches, TableSkeleton } from '../../components/resource-table/table-states.tsx';
import { EmptyState, FailedState } from '../../components/states/states.tsx';
import { Pill } from '../../components/status/status.tsx';
import { Time } from '../../components/values/values.tsx';
import { count } from '../../lib/format.ts';
import { useLanguage, useT } from '../../lib/i18n.ts';
import { hostAndPort } from './curl.ts';
import { ListEnd } from './log-list.tsx';
import { labelOf } from './filters.ts';
import { faultOfPeriod, readState, withFilter, withPeriod, type Period } from './log-state.ts';
import { PeriodChip } from './period-chip.tsx';
import { SiteChip } from './site-chip.tsx';
import { useLogRows, type LogRows } from './use-log-rows.ts';
import { VisitorText } from './visitor-text.tsx';
import { Match } from './waf-explanation.tsx';
import classes from './logs.module.css';

type Finding = Received<typeof logs.waf>['data'][number];

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
  const list = useLogRows(logs.waf, body, period, fault === null);
  const set = (values: Readonly<Record<string, string | null>>) =>
    setSearch((now) => {
      const next = new URLSearchParams(now);
      for (const [name, value] of Object.entries(values))
        if (value === null) next.delete(name);
        else next.set(name, value);
      return next;
    });
  // One change: a second one would not see the first.
  const clear = () =>
    setSearch((now) => {
      const next = withFilter(now, 'siteIDs', false, []);
      next.delete('action');
      next.delete('category');
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
          loading={list.loading && list.first !== undefined}
          onClick={list.reload}
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
    if (list.error)
      return <FailedState error={list.error} retry={list.retry} needs={logs.waf.can} of={t('logs.waf.log')} />;
    if (list.first === undefined) return <TableSkeleton columns={6} />;
    const filters = [
      // The chip has the name.
      ...(only.siteIDs ? [labelOf('siteIDs')] : []),
      ...(action === null ? [] : [t(`logs.waf.actions.${action}`)]),
      ...(category === null ? [] : [t(`wafs.categories.${category}`)]),
    ];
    if (list.rows.length > 0 || list.hasOlder) return <FindingTable list={list} period={period} />;
    if (filters.length > 0) return <NothingMatches filters={filters} onClear={clear} />;
    return <EmptyState icon={IconShieldCheck} title={t('logs.waf.empty')} text={t('logs.waf.emptyText')} />;
  }
}

function FindingTable({ list, period }: { list: LogRows<Finding>; period: Period }) {
  const t = useT();
  const language = useLanguage();
  const { rows } = list;
  return (
    <section
      className={classes['scroller']}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrollable regions need keyboard access
      tabIndex={0}
      aria-label={t('logs.waf.log')}
      data-dimmed={list.isDimmed || undefined}
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
                <Link to={`?${addressOf(row, period)}`}>
                  <VisitorText text={`${hostAndPort(row)}${row.uri}`} />
                </Link>
              </td>
              <td>{row.address}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <ListEnd list={list} text={t('logs.waf.end', { count: rows.length, number: count(rows.length) })} />
    </section>
  );
}

/** The request among all of its site with the same cause in the same period. A later rule may have refused it. */
function addressOf({ id, siteID, cause }: Finding, period: Period): string {
  const search = new URLSearchParams({ ...(siteID !== null && { siteIDs: siteID }), cause, request: id });
  return withPeriod(search, period).toString();
}
