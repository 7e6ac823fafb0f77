import { statistics } from '@edgeloom/contract/statistics/statistics.calls.ts';
import { COUNTRY_SOURCE } from '@edgeloom/contract/geoip/attribution.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { topTypes } from '@edgeloom/contract/statistics/statistics.ts';
import type { ReactNode } from 'react';
import { Link } from 'react-router-dom';
import { byteOrderMark, csvLine } from '../../lib/csv.ts';
import { bytes, count, percent, time } from '../../lib/format.ts';
import { useLanguage, useT } from '../../lib/i18n.ts';
import { saveFile } from '../../lib/save-file.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { useWasNear } from '../../lib/use-was-near.ts';
import { Download, Loaded, NoData, Panel } from './panel.tsx';
import { valueName, type TopKind } from './top-values.ts';
import type { Statistics } from './use-statistics.ts';
import classes from './statistics.module.css';

type Figures = Received<typeof statistics.top>;

interface TopListProps {
  kind: TopKind;
  query: Statistics['query'];
  sortBy: 'requests' | 'bytes';
  top: number;
  pollMs: number | undefined;
  /** Colour of refusals. */
  refused?: boolean;
  /** Path of the log with only this value's requests. */
  logsOf: ((kind: TopKind, value: string) => string | null) | null;
}

/** The most frequent values of one kind, as rows with a bar behind. Loads when the reader is about to see it. */
export function TopList(props: TopListProps) {
  const [place, wasNear] = useWasNear();
  return (
    <div ref={place} className={classes['place']}>
      {wasNear ? <Asked {...props} /> : <Titled {...props}>{null}</Titled>}
    </div>
  );
}

function Titled({ kind, figures, ...props }: TopListProps & { figures?: Figures; children: ReactNode }) {
  const t = useT();
  const language = useLanguage();
  const title = t(`statistics.tops.${kind}`);
  const save = () => {
    const head = csvLine([title, t('statistics.fields.requests'), t('statistics.fields.traffic')]);
    const rows = (figures?.data ?? []).map((row) =>
      csvLine([valueName(kind, row.value, language), String(row.requests), String(row.bytes)]),
    );
    saveFile(`${title} ${time(new Date())}.csv`, [byteOrderMark, head, ...rows], 'text/csv');
  };
  return (
    <Panel title={title} tools={figures && figures.data.length > 0 && <Download of={title} csv={save} />}>
      {props.children}
    </Panel>
  );
}

function Asked(props: TopListProps) {
  const { kind, query, sortBy, top, pollMs } = props;
  const result = useEndpoint(
    statistics.top,
    { body: { ...query, type: topTypes[kind], top, sortBy } },
    pollMs === undefined ? {} : { pollMs },
  );
  return (
    <Titled {...props} {...(result.data && { figures: result.data })}>
      <Loaded result={result}>
        {(figures) => (figures.data.length === 0 ? <NoData /> : <Rows {...props} figures={figures} />)}
      </Loaded>
    </Titled>
  );
}

function Rows({ kind, sortBy, refused, logsOf, figures }: TopListProps & { figures: Figures }) {
  const t = useT();
  const language = useLanguage();
  const most = Math.max(1, ...figures.data.map((row) => row[sortBy]));
  const total = figures.total[sortBy];
  return (
    <>
      <ol className={classes['rows']} data-refused={refused || undefined}>
        {figures.data.map((row) => {
          const name = valueName(kind, row.value, language);
          const path = logsOf?.(kind, row.value) ?? null;
          const shown = sortBy === 'bytes' ? bytes(row.bytes) : count(row.requests);
          return (
            <li key={row.value} className={classes['row']}>
              <i className={classes['bar']} style={{ width: `${(row[sortBy] / most) * 100}%` }} aria-hidden />
              <span className={classes['name']} title={name}>
                {path === null ? name : <Link to={path}>{name}</Link>}
              </span>
              <span className={classes['figure']} title={row.error > 0 ? t('statistics.atLeast') : undefined}>
                {row.error > 0 ? `≥ ${shown}` : shown}
              </span>
              <span className={classes['share']}>{total > 0 ? percent(row[sortBy] / total) : ''}</span>
            </li>
          );
        })}
      </ol>
      {kind === 'country' && <Credit />}
    </>
  );
}

/** The license of the countries' database requires it. */
function Credit() {
  const t = useT();
  const { name, url, license, licenseUrl } = COUNTRY_SOURCE;
  return (
    <p className={classes['credit']}>
      {t('statistics.countriesBy')} <a href={url}>{name}</a>, <a href={licenseUrl}>{license}</a>
    </p>
  );
}
