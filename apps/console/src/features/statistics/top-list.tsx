import { statistics } from '@edgeloom/contract/statistics/statistics.calls.ts';
import { COUNTRY_SOURCE } from '@edgeloom/contract/geoip/attribution.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import type { CountrySource } from '@edgeloom/contract/statistics/statistics.ts';
import { topTypes } from '@edgeloom/contract/statistics/type-numbers.ts';
import { IconListSearch } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'react-router-dom';
import { byteOrderMark, csvLine } from '../../lib/csv.ts';
import { bytes, count, percent, time } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { saveFile } from '../../lib/save-file.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { useWasNear } from '../../lib/use-was-near.ts';
import { Download, Loaded, NoData, Panel } from '../../components/chart/panel.tsx';
import type { TopKind } from './top-values.ts';
import type { Statistics } from './use-statistics.ts';
import { isOfRules, useValueName } from './use-value-name.ts';
import classes from './statistics.module.css';

type TopFigures = Received<typeof statistics.top>;

interface TopListProps {
  kind: TopKind;
  query: Statistics['query'];
  sortBy: 'requests' | 'bytes';
  top: number;
  pollMs: number | undefined;
  /** Colour of refusals. */
  refused?: boolean;
  /** Path of the statistics of only this value's requests. */
  pathOf?: (kind: TopKind, value: string) => string;
  /** Path of the log with only this value's requests. */
  logsOf?: ((kind: TopKind, value: string) => string | null) | null;
  /** The requests of which the shares are. Shown above the rows. */
  shareOf?: 'all' | 'blocked';
  /** A control beside a value. */
  renderTool?: (value: string) => ReactNode;
  /** Replaces the kind's title. */
  title?: string;
}

/** Until the first figures arrive. */
const FIRST_POLL_MS = 30_000;

export const useTop = (
  kind: TopKind,
  query: Statistics['query'],
  { top, sortBy, pollMs }: Pick<TopListProps, 'top' | 'sortBy' | 'pollMs'>,
) =>
  useEndpoint(
    statistics.top,
    { body: { ...query, type: topTypes[kind], top, sortBy } },
    { poll: (figures) => (pollMs !== undefined && figures?.data.length === 0 ? FIRST_POLL_MS : (pollMs ?? null)) },
  );

/** The most frequent values of one kind, as rows with a bar behind. Loads when the reader is about to see it. */
export function TopList(props: TopListProps) {
  const [place, wasNear] = useWasNear();
  return (
    <div ref={place} className={classes['place']}>
      {wasNear ? <Asked {...props} /> : <Titled {...props}>{null}</Titled>}
    </div>
  );
}

function Titled({ kind, figures, title: own, ...props }: TopListProps & { figures?: TopFigures; children: ReactNode }) {
  const t = useT();
  const nameOf = useValueName(isOfRules(kind) && figures !== undefined && figures.data.length > 0);
  const title = own ?? t(`statistics.tops.${kind}`);
  const save = () => {
    const head = csvLine([title, t('statistics.fields.requests'), t('statistics.fields.traffic')]);
    const rows = (figures?.data ?? []).map((row) =>
      csvLine([nameOf(kind, row.value), String(row.requests), String(row.bytes)]),
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
  const result = useTop(kind, query, { top, sortBy, pollMs });
  return (
    <Titled {...props} {...(result.data && { figures: result.data })}>
      <Loaded result={result}>
        {(figures) => (figures.data.length === 0 ? <NoData /> : <Rows {...props} figures={figures} />)}
      </Loaded>
    </Titled>
  );
}

function Rows({
  kind,
  sortBy,
  refused,
  query,
  pathOf,
  logsOf,
  shareOf,
  renderTool,
  figures,
}: TopListProps & { figures: TopFigures }) {
  const t = useT();
  const nameOf = useValueName(isOfRules(kind));
  const most = Math.max(1, ...figures.data.map((row) => row[sortBy]));
  const total = figures.total[sortBy];
  const { startTime } = query;
  const isCut = startTime !== undefined && new Date(figures.from) > new Date(startTime);
  return (
    <>
      {shareOf !== undefined && <p className={classes['shareOf']}>{t(`statistics.shareOf.${shareOf}`)}</p>}
      <ol className={classes['rows']} data-refused={refused || undefined}>
        {figures.data.map((row) => {
          const name = nameOf(kind, row.value);
          const path = row.value === '' ? undefined : pathOf?.(kind, row.value);
          const log = logsOf?.(kind, row.value) ?? null;
          const isChosen = query.filters?.[kind]?.includes(row.value);
          const shown = sortBy === 'bytes' ? bytes(row.bytes) : count(row.requests);
          return (
            <li key={row.value} className={classes['row']}>
              <i className={classes['bar']} style={{ width: `${(row[sortBy] / most) * 100}%` }} aria-hidden />
              <span className={classes['name']} title={name}>
                {path === undefined ? (
                  name
                ) : (
                  <Link to={path} aria-current={isChosen ? 'true' : undefined}>
                    {name}
                  </Link>
                )}
              </span>
              {log !== null && (
                <Link to={log} className={classes['log'] ?? ''} aria-label={t('statistics.logsOf', { name })}>
                  <IconListSearch size={14} stroke={1.6} />
                </Link>
              )}
              <span className={classes['figure']} title={row.error > 0 ? t('statistics.atLeast') : undefined}>
                {row.error > 0 ? `≥ ${shown}` : shown}
              </span>
              <span className={classes['share']}>{total > 0 ? percent(row[sortBy] / total) : ''}</span>
              {row.value !== '' && renderTool?.(row.value)}
            </li>
          );
        })}
      </ol>
      {isCut && <p className={classes['credit']}>{t('statistics.valuesSince', { since: time(figures.from) })}</p>}
      {kind === 'country' && <CountryCredit source={figures.countrySource} />}
    </>
  );
}

/** The license of the bundled database requires it. An API of the release before does not send the source. */
export function CountryCredit({ source }: { source: CountrySource | undefined }) {
  const t = useT();
  if (source === 'own') return null;
  const { name, url, license, licenseUrl } = COUNTRY_SOURCE;
  return (
    <p className={classes['credit']}>
      {t('statistics.countriesBy')} <a href={url}>{name}</a>, <a href={licenseUrl}>{license}</a>
    </p>
  );
}
