import { ApiError } from '@edgeloom/contract/client.ts';
import { Button } from '@mantine/core';
import { IconMoodEmpty, IconRefresh } from '@tabler/icons-react';
import { useEffect } from 'react';
import { isRouteErrorResponse, useRouteError } from 'react-router-dom';
import { isTemporary } from '../lib/errors.ts';
import { useT, type Word } from '../lib/i18n.ts';
import { retryDelay } from '../lib/retry-delay.ts';
import { ChunkTimeout } from '../lib/time-limit.ts';
import { EmptyState, FailedState } from '../components/states/states.tsx';
import { NotFoundText } from './not-found-text.tsx';
import classes from './not-found.module.css';

const reload = () => location.reload();

/** Shown when even the frame could not be loaded. */
export const ConsoleFailure = () => (
  <main className={classes['alone']}>
    <RouteFailure />
  </main>
);

/** A page that failed to load or crashed. The rest of the console stays usable. */
export function RouteFailure() {
  const t = useT();
  const error = useRouteError();
  // Offline, a missing script does not mean a new build.
  const isAway = isStale(error) ? !navigator.onLine : isTemporary(error);
  useReloadWhenBack(isAway);
  if (isRouteErrorResponse(error) && error.status === 404) return <NotFoundText />;
  const isLate = error instanceof ChunkTimeout;
  const title = t(isLate || isAway || error instanceof ApiError ? 'common.states.failed' : 'app.crashed.title');
  const text: Word = isStale(error) ? 'app.update' : isLate ? 'app.chunkTimeout' : 'app.crashed.text';
  return (
    <>
      <h1 className="hidden-text">{title}</h1>
      {error instanceof ApiError || isAway ? (
        <FailedState error={error} retry={reload} />
      ) : (
        <EmptyState
          icon={IconMoodEmpty}
          tone="bad"
          title={title}
          text={t(text)}
          action={
            <Button variant="default" leftSection={<IconRefresh size={15} stroke={1.6} />} onClick={reload}>
              {t(isLate ? 'app.reload' : 'common.retry')}
            </Button>
          }
        />
      )}
    </>
  );
}

/** A chunk cannot be loaded: offline, or the server has a newer build. */
const isStale = (error: unknown) =>
  error instanceof Error && /dynamically imported module|module script|preload CSS/i.test(error.message);

/**
 * Reloads once the server responds: when the network returns, when the tab becomes visible, and at growing intervals.
 */
function useReloadWhenBack(isAway: boolean) {
  useEffect(() => {
    if (!isAway) return;
    let tries = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    // Reloading without a server would replace the page by the browser's error page.
    const attempt = () => {
      clearTimeout(timer);
      tries += 1;
      timer = setTimeout(attempt, retryDelay(tries));
      if (document.hidden) return;
      void fetch(location.pathname, { method: 'HEAD', cache: 'no-store' }).then(
        ({ ok }) => ok && reload(),
        () => undefined,
      );
    };
    timer = setTimeout(attempt, retryDelay(1));
    addEventListener('online', attempt);
    document.addEventListener('visibilitychange', attempt);
    return () => {
      clearTimeout(timer);
      removeEventListener('online', attempt);
      document.removeEventListener('visibilitychange', attempt);
    };
  }, [isAway]);
}
