import { ActionIcon, Tooltip } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useT } from '../../lib/i18n.ts';
import classes from './values.module.css';

/** A text with a button that copies it; `children` show it otherwise than it is copied. */
export function Copy({ text, children }: { text: string; children?: ReactNode }) {
  return (
    <span className={classes['copy']}>
      <span className={classes['text']}>{children ?? text}</span>
      <CopyIcon text={text} />
    </span>
  );
}

export function CopyIcon({ text }: { text: string }) {
  const t = useT();
  const { copy, copied } = useClipboard({ timeout: 1500 });
  return (
    <Tooltip label={copied ? t('common.copied') : t('common.copy')}>
      <ActionIcon size={20} aria-label={t('common.copyOf', { text })} onClick={() => copy(text)}>
        {copied ? <IconCheck size={14} className={classes['copied']} /> : <IconCopy size={14} stroke={1.6} />}
      </ActionIcon>
    </Tooltip>
  );
}
