import { Button } from '@mantine/core';
import { useT } from '../../lib/i18n.ts';
import { StatusMark } from '../status/status-mark.tsx';
import classes from './resource-form.module.css';

/** Shown when a draft was restored after a reload or sign-in. */
export function DraftNotice({ onDiscard }: { onDiscard: () => void }) {
  const t = useT();
  return (
    <div className={classes['restored']}>
      <StatusMark tone="warn" />
      <output>{t('common.form.restored')}</output>
      <Button variant="subtle" size="compact-sm" onClick={onDiscard}>
        {t('common.discard')}
      </Button>
    </div>
  );
}
