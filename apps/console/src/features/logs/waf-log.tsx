// Requests of a period in which the firewall found something. Period, sites, category and action are in the URL.
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { logs } from '@edgeloom/contract/logs/logs.endpoints.ts';
import { WafAction } from '@edgeloom/contract/logs/waf.ts';
import { wafCategories } from '@edgeloom/contract/waf/waf.ts';
import { Select } from '@mantine/core';
import { IconShieldCheck } from '@tabler/icons-react';
import { Link, useSearchParams } from 'react-router-dom';
import { EmptyState } from '../../components/states/states.tsx';
import { Pill } from '../../components/status/status.tsx';
import { Time } from '../../components/values/values.tsx';
import { count } from '../../lib/format.ts';
import { useLanguage, useT } from '../../lib/i18n.ts';
import { hostAndPort } from './curl.ts';
import { labelOf } from './filters.ts';
import { LogLine } from './log-line.tsx';
import { faultOfPeriod, readState, withFilter, withPeriod, type Period } from './log-state.ts';
import { LogRowsFrame, LogTab } from './log-tab.tsx';
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
  const query = {
    ...(only.siteIDs && { siteIDs: [...only.siteIDs] }),
    ...(action !== null && { action }),
    ...(category !== null && { category }),
  };
  const list = useLogRows(logs.waf, { ...query, mayEndEarly: true }, period, faultOfPeriod(period) === null);
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
    <LogTab
      title={t('logs.waf.log')}
      list={list}
      needs={logs.waf.can}
      period={period}
      bodyOf={(window, format) => ({ type: 'waf', format, query: { ...query, ...window } })}
      filters={[
        // The chip has the name.
        ...(only.siteIDs ? [labelOf('siteIDs')] : []),
        ...(action === null ? [] : [t(`logs.waf.actions.${action}`)]),
        ...(category === null ? [] : [t(`wafs.categories.${category}`)]),
      ]}
      onClear={clear}
      empty={<EmptyState icon={IconShieldCheck} title={t('logs.waf.empty')} text={t('logs.waf.emptyText')} />}
      toolbar={
        <>
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
        </>
      }
    >
      <Findings list={list} period={period} />
    </LogTab>
  );
}

function Findings({ list, period }: { list: LogRows<Finding>; period: Period }) {
  const t = useT();
  const language = useLanguage();
  const { length } = list.rows;
  const ruleName = ({ ruleName: name, ruleID }: Finding) => name?.[language] ?? ruleID;
  return (
    <LogRowsFrame
      title={t('logs.waf.log')}
      list={list}
      columns={[
        t('logs.fields.time'),
        t('logs.waf.action'),
        t('logs.rule'),
        t('logs.waf.match'),
        t('logs.target'),
        t('logs.fields.remoteIP'),
      ]}
      end={t('logs.waf.end', { count: length, number: count(length) })}
      renderCells={(row) => (
        <>
          <td>
            <Time at={row.time} milliseconds />
          </td>
          <td>
            <Action row={row} />
          </td>
          <td title={row.ruleID}>{ruleName(row)}</td>
          <td className={classes['wafCell']}>
            <MatchOf row={row} />
          </td>
          <td className={classes['wafCell']}>
            <Link to={`?${addressOf(row, period)}`}>
              <VisitorText text={`${hostAndPort(row)}${row.uri}`} />
            </Link>
          </td>
          <td>{row.address}</td>
        </>
      )}
      renderLine={(row) => (
        <LogLine
          key={row.id}
          id={row.id}
          mark={<Action row={row} />}
          text={
            <>
              <Link to={`?${addressOf(row, period)}`} className={classes['link'] ?? ''}>
                <VisitorText text={hostAndPort(row)} />
                <span className={classes['path']}>
                  <VisitorText text={row.uri} />
                </span>
              </Link>
              <div className={classes['lineMatch']}>
                <MatchOf row={row} />
              </div>
            </>
          }
          below={
            <>
              <span>{ruleName(row)}</span>
              <Time at={row.time} milliseconds />
              <span>{row.address}</span>
            </>
          }
        />
      )}
    />
  );
}

function Action({ row: { action } }: { row: Finding }) {
  const t = useT();
  return <Pill tone={action === 'blocked' ? 'bad' : 'busy'}>{t(`logs.waf.actions.${action}`)}</Pill>;
}

const MatchOf = ({ row: { waf } }: { row: Finding }) => waf && waf.place !== 'body' && <Match waf={waf} />;

/** The request among all of its site with the same cause in the same period. A later rule may have refused it. */
function addressOf({ id, siteID, cause }: Finding, period: Period): string {
  const search = new URLSearchParams({ ...(siteID !== null && { siteIDs: siteID }), cause, request: id });
  return withPeriod(search, period).toString();
}
