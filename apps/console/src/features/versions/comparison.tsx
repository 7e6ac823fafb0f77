import { versions } from '@edgeloom/contract/versions/versions.endpoints.ts';
import { useState } from 'react';
import { Differences } from '../../components/differences/differences.tsx';
import { VersionPair, type Sides } from '../../components/differences/version-pair.tsx';
import { Pages } from '../../components/pages/pages.tsx';
import { Await } from '../../components/states/await.tsx';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import classes from './versions.module.css';

const SIZE = 100;

/** Compares two versions of a site. */
export function Comparison({ siteId, from, to, choose }: Sides & { siteId: string; choose: (sides: Sides) => void }) {
  const t = useT();
  const [page, setPage] = useState(1);
  const found = useEndpoint(versions.compare, {
    params: { siteId, version: to },
    query: { against: from, page, pageSize: SIZE },
  });
  const turn = (sides: Sides) => {
    setPage(1);
    choose(sides);
  };
  const oldest = found.data?.oldest;
  // The list has no row for the state before the oldest version.
  const base =
    oldest === undefined
      ? null
      : {
          value: String(oldest),
          label: t(oldest === 0 ? 'versions.first' : 'versions.atVersion', { version: oldest }),
        };
  return (
    <div className={classes['comparison']}>
      <VersionPair from={from} to={to} meta={versions.meta} params={{ siteId }} base={base} choose={turn} />
      <Await result={found}>
        {(comparison) =>
          comparison.total === 0 ? (
            <p>{t('versions.same')}</p>
          ) : (
            <>
              <p className={classes['total']}>{t('versions.things', { number: count(comparison.total) })}</p>
              <Differences
                rows={comparison.data}
                total={comparison.data.length}
                before={t('versions.atVersion', { version: from })}
                after={t('versions.atVersion', { version: to })}
              />
              <Pages page={page} pageSize={SIZE} total={comparison.total} onChange={setPage} />
            </>
          )
        }
      </Await>
    </div>
  );
}
