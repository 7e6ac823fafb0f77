import { Button } from '@mantine/core';
import { IconMapQuestion } from '@tabler/icons-react';
import { Link } from 'react-router-dom';
import { EmptyState } from '../components/states/states.tsx';
import { family } from '../lib/family.ts';
import { useT } from '../lib/i18n.ts';

export function NotFoundText() {
  const t = useT();
  return (
    <EmptyState
      icon={IconMapQuestion}
      title={t('app.notFound.title')}
      text={t('app.notFound.text')}
      action={
        <Button component={Link} to={`/${family}/`} variant="default">
          {t('app.notFound.home')}
        </Button>
      }
    />
  );
}
