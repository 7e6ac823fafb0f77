import { ApiError } from '@edgeloom/contract/client.ts';
import { Button } from '@mantine/core';
import { IconMoodEmpty, IconRefresh } from '@tabler/icons-react';
import { isRouteErrorResponse, useRouteError } from 'react-router-dom';
import { useT } from '../lib/i18n.ts';
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
  if (isRouteErrorResponse(error) && error.status === 404) return <NotFoundText />;
  if (error instanceof ApiError || isOffline(error)) return <FailedState error={error} retry={reload} />;
  return (
    <EmptyState
      icon={IconMoodEmpty}
      tone="bad"
      title={t('frame.crashed.title')}
      text={isStale(error) ? t('frame.update') : t('frame.crashed.text')}
      action={
        <Button variant="default" leftSection={<IconRefresh size={15} stroke={1.6} />} onClick={reload}>
          {t('common.retry')}
        </Button>
      }
    />
  );
}

const isOffline = (error: unknown) =>
  error instanceof TypeError && /fetch|network/i.test(error.message) && !isStale(error);
/** A script or stylesheet of the build before this one, which the server no longer has. */
const isStale = (error: unknown) =>
  error instanceof Error && /dynamically imported module|module script|preload CSS/i.test(error.message);
