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
  /** What stands there meanwhile; by default a small spinner after 300 ms. */
  loading?: ReactNode;
  /** Where it brings its own head with it: the title that stands there until then. */
  page?: Word;
}

/** What is asked for, or what keeps it from being shown. Old data stay, dimmed, while newer ones are asked for. */
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
        <div className={classes['stale']}>{t('common.table.asOf', { time: clock(new Date(result.at)) })}</div>
      )}
      {result.refreshing ? <div className={classes['dim']}>{children(result.data)}</div> : children(result.data)}
    </>
  );
}
