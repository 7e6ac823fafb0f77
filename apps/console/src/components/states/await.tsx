import type { ReactNode } from 'react';
import { clock } from '../../lib/format.ts';
import { useT, type Word } from '../../lib/i18n.ts';
import type { Result } from '../../lib/use-endpoint.ts';
import { Page } from '../page/page.tsx';
import { FailedState, PageLoading } from './states.tsx';
import classes from './states.module.css';

interface AwaitProps<T> {
  result: Result<T>;
  children: (data: T) => ReactNode;
  /** Loading state; by default a small spinner after 300 ms. */
  loading?: ReactNode;
  /** Title to show while loading, when the content brings its own page head. */
  page?: Word;
}

/** Loading and error states of a query. Old data stays dimmed while new data loads. */
export function Await<T>({ result, children, loading = <PageLoading />, page }: AwaitProps<T>) {
  const t = useT();
  if (result.data === undefined) {
    const { error, retry, needs } = result;
    const found = error ? <FailedState error={error} retry={retry} needs={needs} of={page && t(page)} /> : loading;
    return page ? (
      <Page title={page} waits>
        {found}
      </Page>
    ) : (
      found
    );
  }
  return (
    <>
      {result.stale && (
        <div className={classes['stale']}>{t('shared.table.asOf', { time: clock(new Date(result.at)) })}</div>
      )}
      {result.refreshing ? <div className={classes['dim']}>{children(result.data)}</div> : children(result.data)}
    </>
  );
}
