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

/** Where not even the frame could be loaded. */
export const ConsoleFailure = () => (
  <main className={classes['alone']}>
    <RouteFailure />
  </main>
);

/** A page that could not be loaded or has crashed; the rest of the console stays. */
export function RouteFailure() {
  const t = useT();
  const error = useRouteError();
  // Without a network a missing script is no sign of a newer build.
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

/** A chunk that cannot be fetched: the network is away, or the server has another build. */
const isStale = (error: unknown) =>
  error instanceof Error && /dynamically imported module|module script|preload CSS/i.test(error.message);

/** Reloads once the server answers: at the network's return, when the tab is looked at, and at growing intervals. */
function useReloadWhenBack(isAway: boolean) {
  useEffect(() => {
    if (!isAway) return;
    let tries = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    // A reload without a server would lose the page to the browser's own message.
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
