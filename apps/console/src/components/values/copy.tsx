import { ActionIcon } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useT } from '../../lib/i18n.ts';
import classes from './values.module.css';

/** A text with a copy button. `children` replace the displayed text. */
export function Copy({ text, children }: { text: string; children?: ReactNode }) {
  return (
    <span className={classes['copy']}>
      <span className={classes['text']}>{children ?? text}</span>
      <CopyIcon text={text} />
    </span>
  );
}

/** Has no tooltip: the sign-in page would have to load the positioning library. */
export function CopyIcon({
  text,
  name = text,
}: {
  text: string;
  /** Description of a long or secret text. */ name?: string;
}) {
  const t = useT();
  const { copy, copied } = useClipboard({ timeout: 1500 });
  return (
    <ActionIcon
      size={20}
      title={t(copied ? 'common.copied' : 'common.copy')}
      aria-label={t('common.copyOf', { text: name })}
      onClick={() => copy(text)}
    >
      {copied ? <IconCheck size={14} className={classes['copied'] ?? ''} /> : <IconCopy size={14} stroke={1.6} />}
    </ActionIcon>
  );
}
