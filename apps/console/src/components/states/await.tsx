import type { ReactNode } from 'react';
import { clock } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import type { Result } from '../../lib/use-endpoint.ts';
import { FailedState, PageLoading } from './states.tsx';
import classes from './states.module.css';

interface AwaitProps<T> {
  result: Result<T>;
  children: (data: T) => ReactNode;
  /** What stands there meanwhile; by default a small spinner after 300 ms. */
  loading?: ReactNode;
}

/** What is asked for, or what keeps it from being shown. Old data stay, dimmed, while newer ones are asked for. */
export function Await<T>({ result, children, loading = <PageLoading /> }: AwaitProps<T>) {
  const t = useT();
  if (result.data === undefined)
    return result.error ? <FailedState error={result.error} retry={result.retry} needs={result.needs} /> : loading;
  return (
    <>
      {result.stale && (
        <div className={classes['stale']}>{t('common.table.asOf', { time: clock(new Date(result.at)) })}</div>
      )}
      {result.refreshing ? <div className={classes['dim']}>{children(result.data)}</div> : children(result.data)}
    </>
  );
}
