import { causeName } from '../../lib/cause-name.ts';
import { countryName } from '../../lib/countries.ts';
import { Button } from '@mantine/core';
import { useEffect, useRef, type KeyboardEvent, type MouseEvent, type ReactNode } from 'react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { Link } from 'react-router-dom';
import { Pill } from '../../components/status/status.tsx';
import { Nothing } from '../../components/values/values.tsx';
import { explain, withCode } from '../../lib/errors.ts';
import { time, utc } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { usePreferences } from '../../stores/preferences.ts';
import { useRuleName, type RuleName } from '../waf/use-rule-name.ts';
import { hostAndPort } from './curl.ts';
import { LogLine } from './log-line.tsx';
import { reachedInWords } from './log-pages.ts';
import { decisionOf, toneOfStatus, wafRuleID, type LogRow } from './log-row.ts';
import type { LogRows } from './use-log-rows.ts';
import { VisitorText } from './visitor-text.tsx';
import classes from './logs.module.css';

interface LogListProps {
  list: ListedRows;
  openID: string | null;
  addressOf: (id: string) => string;
  onOpen: (id: string) => void;
}

/** A live list has no older rows to load. */
export type ListedRows = Pick<
  LogRows<LogRow>,
  | 'key'
  | 'rows'
  | 'first'
  | 'loading'
  | 'isDimmed'
  | 'hasOlder'
  | 'loadingOlder'
  | 'loadOlder'
  | 'laterError'
  | 'searchedTo'
  | 'continues'
> & { isLive?: true };

/** Above this number of rows the table is virtualized. */
const VIRTUAL_FROM = 200;
const COLUMNS = 6;

const hasSeveralDays = (rows: readonly LogRow[]) =>
  time(rows[0]?.time).slice(0, 10) !== time(rows.at(-1)?.time).slice(0, 10);

/** Once for the list: each row would read the rules for itself. */
const useRuleNameOf = (rows: readonly LogRow[]) => useRuleName(rows.some(({ cause }) => cause === 'waf'));

/** The table for wide screens. Scrolling to its end loads older rows. */
export function LogTable({ list, openID, addressOf, onOpen }: LogListProps) {
  const t = useT();
  const scroller = useRef<HTMLElement>(null);
  const { rows } = list;
  const ruleName = useRuleNameOf(rows);
  const isVirtual = rows.length > VIRTUAL_FROM;
  const rowHeight = usePreferences(({ density }) => (density === 'roomy' ? 44 : 36));
  usePreferences(({ timeZone }) => timeZone);
  // oxlint-disable-next-line react/incompatible-library -- its values are used only in this render
  const virtualizer = useVirtualizer({
    count: isVirtual ? rows.length : 0,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  });
  useEffect(() => {
    if (scroller.current) scroller.current.scrollTop = 0;
  }, [list.key]);
  const items = virtualizer.getVirtualItems();
  const from = isVirtual ? (items[0]?.index ?? 0) : 0;
  const to = isVirtual ? (items.at(-1)?.index ?? -1) + 1 : rows.length;
  const before = isVirtual ? (items[0]?.start ?? 0) : 0;
  const after = isVirtual ? virtualizer.getTotalSize() - (items.at(-1)?.end ?? 0) : 0;
  const isDated = hasSeveralDays(rows);
  return (
    <section
      ref={scroller}
      className={classes['scroller']}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrollable regions need keyboard access
      tabIndex={0}
      aria-label={t('logs.title')}
      data-dimmed={list.isDimmed || undefined}
    >
      <table
        className={classes['table']}
        data-dated={isDated || undefined}
        {...(isVirtual && { 'aria-rowcount': rows.length + 1 })}
      >
        <caption className="hidden-text">{t('logs.title')}</caption>
        <thead>
          <tr>
            <th data-column="time">{t('logs.fields.time')}</th>
            <th data-column="status">{t('logs.fields.status')}</th>
            <th data-column="method">{t('logs.fields.method')}</th>
            <th>{t('logs.target')}</th>
            <th data-column="verdict">{t('logs.verdict')}</th>
            <th data-column="address">{t('logs.fields.remoteIP')}</th>
          </tr>
        </thead>
        <tbody>
          {before > 0 && <Spacer height={before} />}
          {rows.slice(from, to).map((row, i) => (
            <Row
              key={row.id}
              row={row}
              isDated={isDated}
              isOpen={row.id === openID}
              address={addressOf(row.id)}
              place={isVirtual ? from + i + 2 : null}
              ruleName={ruleName}
              onOpen={onOpen}
            />
          ))}
          {after > 0 && <Spacer height={after} />}
        </tbody>
      </table>
      <ListEnd list={list} auto />
    </section>
  );
}

/** Placeholder for virtualized rows. */
const Spacer = ({ height }: { height: number }) => (
  <tr aria-hidden>
    {/* oxlint-disable-next-line jsx-a11y/control-has-associated-label -- empty, and hidden with its row */}
    <td colSpan={COLUMNS} style={{ height, padding: 0, border: 0 }} />
  </tr>
);

interface RowProps {
  row: LogRow;
  isDated: boolean;
  isOpen: boolean;
  address: string;
  /** Index among all rows, when the table is virtualized. */
  place: number | null;
  ruleName: RuleName;
  onOpen: (id: string) => void;
}

function Row({ row, isDated, isOpen, address, place, ruleName, onOpen }: RowProps) {
  const onKey = (event: KeyboardEvent<HTMLTableRowElement>) => {
    if (event.target !== event.currentTarget || event.nativeEvent.isComposing) return;
    if (event.key === 'Enter') onOpen(row.id);
    else if (event.key === 'ArrowDown') focusOn(event.currentTarget.nextElementSibling);
    else if (event.key === 'ArrowUp') focusOn(event.currentTarget.previousElementSibling);
    else return;
    event.preventDefault();
  };
  return (
    <tr
      className={classes['row']}
      tabIndex={-1}
      data-row={row.id}
      data-open={isOpen || undefined}
      {...(place !== null && { 'aria-rowindex': place })}
      onKeyDown={onKey}
      onClick={(event) => {
        if (isPlain(event) && !hasSelection()) onOpen(row.id);
      }}
    >
      <td>
        <RowTime row={row} isDated={isDated} />
      </td>
      <td>
        <Pill tone={toneOfStatus(row.status)}>{row.status}</Pill>
      </td>
      <td>
        <VisitorText text={row.method} />
      </td>
      <td className={classes['target']}>
        <RequestLink row={row} address={address} isOpen={isOpen} onOpen={onOpen} />
      </td>
      <td>
        <Verdict row={row} ruleName={ruleName} />
      </td>
      <td title={row.address}>
        {row.address} <Country code={row.country} />
      </td>
    </tr>
  );
}

const focusOn = (row: Element | null) => {
  if (row instanceof HTMLElement && row.tabIndex === -1) row.focus();
};
/** Links open in a new tab with a modifier key. */
const isPlain = (event: MouseEvent) => !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
const hasSelection = () => (getSelection()?.toString() ?? '') !== '';

/** `14:12:47.318`, with the date if the rows have several. */
function RowTime({ row, isDated }: { row: LogRow; isDated: boolean }) {
  const at = new Date(row.time);
  return (
    <time dateTime={row.time} title={utc(at)}>
      {time(at, { milliseconds: true }).slice(isDated ? 5 : 11)}
    </time>
  );
}

type RequestLinkProps = Pick<RowProps, 'row' | 'address' | 'isOpen' | 'onOpen'>;

function RequestLink({ row, address, isOpen, onOpen }: RequestLinkProps) {
  return (
    <Link
      to={address}
      className={classes['link'] ?? ''}
      {...(isOpen && { 'aria-current': 'true' })}
      onClick={(event) => {
        event.stopPropagation();
        if (!isPlain(event)) return;
        event.preventDefault();
        onOpen(row.id);
      }}
    >
      <VisitorText text={hostAndPort(row)} />
      <span className={classes['path']}>
        <VisitorText text={row.args === '' ? row.uri : `${row.uri}?${row.args}`} />
      </span>
    </Link>
  );
}

/** The cause, with the name of its WAF rule, else the cache status. */
function Verdict({ row, ruleName }: Pick<RowProps, 'row' | 'ruleName'>) {
  if (row.cause === '') return row.cacheStatus === '' ? <Nothing /> : <>{row.cacheStatus}</>;
  const name = row.cause === 'waf' ? ruleName(wafRuleID(row.rule)) : undefined;
  return <Cause row={row} text={name === undefined ? causeName(row.cause) : `${causeName(row.cause)} · ${name}`} />;
}

const Cause = ({ row, text }: { row: LogRow; text: string }) => (
  <span className={classes['cause']} data-decision={decisionOf(row)} title={text}>
    {text}
  </span>
);

export const Country = ({ code }: { code: string }) =>
  code === '' ? null : (
    <abbr className={classes['country']} title={countryName(code)}>
      {code}
    </abbr>
  );

/** Two lines per row, on phones. */
export function LogLines({ list, openID, addressOf, onOpen }: LogListProps) {
  const t = useT();
  usePreferences(({ timeZone }) => timeZone);
  const isDated = hasSeveralDays(list.rows);
  const ruleName = useRuleNameOf(list.rows);
  return (
    <div className={classes['lines']} data-dimmed={list.isDimmed || undefined}>
      <ul aria-label={t('logs.title')}>
        {list.rows.map((row) => (
          <LogLine
            key={row.id}
            id={row.id}
            isOpen={row.id === openID}
            mark={<Pill tone={toneOfStatus(row.status)}>{row.status}</Pill>}
            text={<RequestLink row={row} address={addressOf(row.id)} isOpen={row.id === openID} onOpen={onOpen} />}
            below={
              <>
                <RowTime row={row} isDated={isDated} />
                <VisitorText text={row.method} />
                <Verdict row={row} ruleName={ruleName} />
                <span>
                  {row.address} <Country code={row.country} />
                </span>
              </>
            }
          />
        ))}
      </ul>
      <ListEnd list={list} />
    </div>
  );
}

export interface ListEndProps {
  list: Omit<ListedRows, 'key' | 'rows' | 'isDimmed'>;
  auto?: boolean;
  /** The note that no older rows exist. */
  text?: string;
}

/**
 * A button for older rows, or a note that none exist. `auto` loads older rows when the end is near. A search that takes
 * long continues in any case while the end is visible.
 */
export function ListEnd({ list, auto = false, text }: ListEndProps) {
  const t = useT();
  const end = useRef<HTMLDivElement>(null);
  const { first, loading, hasOlder, loadingOlder, loadOlder, laterError, searchedTo } = list;
  const isAutomatic = searchedTo === null ? auto : list.continues;
  const loads = isAutomatic && hasOlder && !loadingOlder && !loading && laterError === null;
  const load = useRef(loadOlder);
  useEffect(() => {
    load.current = loadOlder;
  });
  useEffect(() => {
    if (!loads || !end.current) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && load.current(), {
      scrollMargin: '400px',
    });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [loads]);
  let content: ReactNode = list.isLive ? null : (text ?? t('logs.end'));
  if (hasOlder)
    content = (
      <Button size="xs" variant="default" loading={loadingOlder} disabled={loading} onClick={loadOlder}>
        {t(searchedTo === null ? 'logs.older' : 'logs.continueSearch')}
      </Button>
    );
  return (
    <div ref={end} className={classes['end']}>
      {laterError && (
        <span role="alert" className={classes['laterError']}>
          {withCode(explain(laterError))}
        </span>
      )}
      {searchedTo !== null && first && (
        <span>{t('logs.searchedTo', { at: reachedInWords(searchedTo, first.window) })}</span>
      )}
      {content}
    </div>
  );
}
