import { useT } from '../../lib/i18n.ts';
import { Loaded, Panel } from '../../components/chart/panel.tsx';
import { bytes, count } from '../../lib/format.ts';
import { useWasNear } from '../../lib/use-was-near.ts';
import type { ReactNode } from 'react';
import { CountryMap } from './country-map.tsx';
import { useTop } from './top-list.tsx';
import type { TopKind } from './top-values.ts';
import type { Statistics } from './use-statistics.ts';
import classes from './statistics.module.css';

/** More than there are countries. */
const MAX_COUNTRIES = 300;

interface WorldMapProps {
  title: string;
  query: Statistics['query'];
  sortBy: 'requests' | 'bytes';
  pollMs: number | undefined;
  /** Colours of attacks. */
  isBad?: boolean;
  pathOf?: (kind: TopKind, value: string) => string;
  tools?: ReactNode;
}

/** Requests or bytes by country. Loads when the reader is about to see it. */
export function WorldMap(props: WorldMapProps) {
  const [place, wasNear] = useWasNear();
  return (
    <div ref={place} className={classes['place']}>
      {wasNear ? (
        <Near {...props} />
      ) : (
        <Panel title={props.title} tools={props.tools}>
          {null}
        </Panel>
      )}
    </div>
  );
}

function Near({ query, sortBy, pollMs, pathOf, ...props }: WorldMapProps) {
  const t = useT();
  const result = useTop('country', query, { top: MAX_COUNTRIES, sortBy, pollMs });
  return (
    <Loaded result={result}>
      {({ data, total, countrySource }) => (
        <CountryMap
          {...props}
          rows={data.map((row) => ({ code: row.value, value: row[sortBy] }))}
          total={total[sortBy]}
          countrySource={countrySource}
          figureOf={sortBy === 'bytes' ? bytes : count}
          valueTitle={t(sortBy === 'bytes' ? 'statistics.fields.traffic' : 'statistics.fields.requests')}
          pathOf={pathOf && ((code) => pathOf('country', code))}
        />
      )}
    </Loaded>
  );
}
