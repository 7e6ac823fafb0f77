import { Button } from '@mantine/core';
import { useT } from '../../lib/i18n.ts';
import { StatusMark } from '../status/status-mark.tsx';
import classes from './resource-form.module.css';

/** Above fields that hold a draft from before a reload or sign-in. */
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
