// Layer-4 sessions of a period. Period, sites, outcome and address are in the URL.
import { logs } from '@edgeloom/contract/logs/logs.endpoints.ts';
import { layer4Outcomes, type Layer4Outcome } from '@edgeloom/contract/statistics/layer4.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { Select, TextInput } from '@mantine/core';
import { IconPlugConnected } from '@tabler/icons-react';
import { useState } from 'react';
import { useSearchParams } from 'react-router-dom';
import { EmptyState } from '../../components/states/states.tsx';
import { Pill } from '../../components/status/status.tsx';
import { Time } from '../../components/values/values.tsx';
import { bytes, count, took } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import type { Tone } from '../../theme/tokens.ts';
import { faultOf, labelOf, normalized } from './filters.ts';
import { LogLine } from './log-line.tsx';
import { Country } from './log-list.tsx';
import { faultOfPeriod, readState, withFilter, withPeriod } from './log-state.ts';
import { LogRowsFrame, LogTab } from './log-tab.tsx';
import { PeriodChip } from './period-chip.tsx';
import { SiteChip } from './site-chip.tsx';
import { useLogRows, type LogRows } from './use-log-rows.ts';

type Session = Received<typeof logs.sessions>['data'][number];

const tones: Readonly<Record<Layer4Outcome, Tone>> = { allowed: 'ok', dropped: 'held', failed: 'bad' };
const isOutcome = (text: string | null): text is Layer4Outcome => layer4Outcomes.some((outcome) => outcome === text);

export function Sessions() {
  const t = useT();
  const [search, setSearch] = useSearchParams();
  const { period, only } = readState(search);
  const asked = search.get('outcome');
  const outcome = isOutcome(asked) ? asked : null;
  const { remoteIP } = only;
  const query = {
    ...(remoteIP && { remoteIP: [...remoteIP] }),
    ...(only.siteIDs && { siteIDs: [...only.siteIDs] }),
    ...(outcome !== null && { outcomes: [outcome] }),
  };
  const list = useLogRows(logs.sessions, query, period, faultOfPeriod(period) === null);
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
    <LogTab
      title={t('logs.sessions.title')}
      list={list}
      needs={logs.sessions.can}
      period={period}
      bodyOf={(window, format) => ({ type: 'sessions', format, query: { ...query, ...window } })}
      filters={[
        // The chip has the name.
        ...(only.siteIDs ? [labelOf('siteIDs')] : []),
        ...(outcome === null ? [] : [t(`logs.sessions.outcomes.${outcome}`)]),
        ...(remoteIP ?? []),
      ]}
      onClear={clear}
      empty={
        <EmptyState icon={IconPlugConnected} title={t('logs.sessions.empty')} text={t('logs.sessions.emptyText')} />
      }
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
            aria-label={t('logs.sessions.outcome')}
            placeholder={t('logs.sessions.outcome')}
            data={layer4Outcomes.map((value) => ({ value, label: t(`logs.sessions.outcomes.${value}`) }))}
            value={outcome}
            onChange={setOutcome}
          />
          <AddressField key={remoteIP?.join()} values={remoteIP ?? []} onChange={setAddress} />
        </>
      }
    >
      <SessionRows list={list} />
    </LogTab>
  );
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

function SessionRows({ list }: { list: LogRows<Session> }) {
  const t = useT();
  const { length } = list.rows;
  return (
    <LogRowsFrame
      title={t('logs.sessions.title')}
      list={list}
      columns={[
        t('logs.fields.time'),
        t('logs.sessions.outcome'),
        t('logs.fields.siteIDs'),
        t('logs.sessions.port'),
        t('logs.fields.remoteIP'),
        t('logs.sessions.traffic'),
        t('logs.sessions.duration'),
        t('logs.origin'),
      ]}
      end={t('logs.sessions.end', { count: length, number: count(length) })}
      renderCells={(row) => (
        <>
          <td>
            <Time at={row.time} milliseconds />
          </td>
          <td>
            <Outcome row={row} />
          </td>
          <td>{row.siteName}</td>
          <td>{portOf(row)}</td>
          <td>
            {row.address} <Country code={row.country} />
          </td>
          <td>{trafficOf(row)}</td>
          <td>{took(row.sessionTime)}</td>
          <td>{row.upstream === '' ? t('logs.noOrigin') : row.upstream}</td>
        </>
      )}
      renderLine={(row) => (
        <LogLine
          key={row.id}
          id={row.id}
          mark={<Outcome row={row} />}
          text={
            <>
              {row.address} <Country code={row.country} /> · {portOf(row)}
            </>
          }
          below={
            <>
              <Time at={row.time} milliseconds />
              <span>{row.siteName}</span>
              <span>{trafficOf(row)}</span>
              <span>{took(row.sessionTime)}</span>
            </>
          }
        />
      )}
    />
  );
}

function Outcome({ row: { outcome } }: { row: Session }) {
  const t = useT();
  return <Pill tone={tones[outcome]}>{t(`logs.sessions.outcomes.${outcome}`)}</Pill>;
}

const portOf = ({ port, protocol }: Session) => `${port}/${protocol}`;
const trafficOf = (row: Session) => bytes(row.bytes + row.requestBytes);
