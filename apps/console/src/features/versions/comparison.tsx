import type { Received } from '@edgeloom/contract/endpoint.ts';
import { versions } from '@edgeloom/contract/versions/versions.endpoints.ts';
import { ActionIcon } from '@mantine/core';
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react';
import { useState } from 'react';
import { Differences } from '../../components/differences/differences.tsx';
import { VersionPair, type Sides } from '../../components/differences/version-pair.tsx';
import { Await } from '../../components/states/await.tsx';
import { count, time } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import classes from './versions.module.css';

type Version = Received<typeof versions.list>['data'][number];

const SIZE = 100;

/** Compares two versions of a site. */
export function Comparison({ siteId, from, to, choose }: Sides & { siteId: string; choose: (sides: Sides) => void }) {
  const t = useT();
  const [page, setPage] = useState(1);
  const all = useEndpoint(versions.list, {
    params: { siteId },
    query: { sortBy: 'version', orderBy: 'desc', pageSize: 500 },
  });
  const found = useEndpoint(versions.compare, {
    params: { siteId, version: to },
    query: { against: from, page, pageSize: SIZE },
  });
  const turn = (sides: Sides) => {
    setPage(1);
    choose(sides);
  };
  const known = all.data?.data ?? [];
  const nameOf = (version: number) => labelOf(version, known) ?? t('versions.atVersion', { version });
  const oldest = found.data?.oldest ?? 0;
  const data = [...known.map(({ version }) => version), oldest]
    .filter((version, i, list) => list.indexOf(version) === i)
    .map((version) => ({
      value: String(version),
      label: version === 0 ? t('versions.first') : nameOf(version),
    }));
  return (
    <div className={classes['comparison']}>
      <VersionPair from={from} to={to} data={data} choose={turn} />
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
              {comparison.total > SIZE && (
                <Pages page={page} pages={Math.ceil(comparison.total / SIZE)} onChange={setPage} />
              )}
            </>
          )
        }
      </Await>
    </div>
  );
}

function labelOf(version: number, known: readonly Version[]) {
  const found = known.find((one) => one.version === version);
  return found && [String(version), time(found.at), found.accountName].filter(Boolean).join(' · ');
}

function Pages({ page, pages, onChange }: { page: number; pages: number; onChange: (page: number) => void }) {
  const t = useT();
  return (
    <nav className={classes['pages']} aria-label={t('common.table.page', { page, pages })}>
      <ActionIcon aria-label={t('common.table.previous')} disabled={page <= 1} onClick={() => onChange(page - 1)}>
        <IconChevronLeft size={16} stroke={1.6} />
      </ActionIcon>
      <span aria-hidden>
        {page} / {pages}
      </span>
      <ActionIcon aria-label={t('common.table.nextPage')} disabled={page >= pages} onClick={() => onChange(page + 1)}>
        <IconChevronRight size={16} stroke={1.6} />
      </ActionIcon>
    </nav>
  );
}
