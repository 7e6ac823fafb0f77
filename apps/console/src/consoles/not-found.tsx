import { Button } from '@mantine/core';
import { IconMapQuestion } from '@tabler/icons-react';
import { useEffect } from 'react';
import { Link } from 'react-router-dom';
import { Page } from '../components/page/page.tsx';
import { EmptyState } from '../components/states/states.tsx';
import { family } from '../lib/family.ts';
import { useT } from '../lib/i18n.ts';
import classes from './not-found.module.css';

export function NotFoundText() {
  const t = useT();
  return (
    <EmptyState
      icon={IconMapQuestion}
      title={t('frame.notFound.title')}
      text={t('frame.notFound.text')}
      action={
        <Button component={Link} to={`/${family}/`} variant="default">
          {t('frame.notFound.home')}
        </Button>
      }
    />
  );
}

/** Without the frame: nobody is signed in, or the address is of no console. */
export function NotFound() {
  const t = useT();
  useEffect(() => {
    document.title = `404 · ${t('frame.product')}`;
  }, [t]);
  return (
    <main className={classes['alone']}>
      <h1 className={classes['code']}>404</h1>
      <NotFoundText />
    </main>
  );
}

export function NotFoundInside() {
  return (
    <Page title="frame.notFound.title">
      <NotFoundText />
    </Page>
  );
}
