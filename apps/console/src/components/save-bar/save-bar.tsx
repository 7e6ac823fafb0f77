import { Button } from '@mantine/core';
import { useEffect, useRef, type ReactNode } from 'react';
import { useT, type Word } from '../../lib/i18n.ts';
import { isCovered, isSaveKey } from '../overlay/save-key.ts';
import { PreviewButton, type Preview } from '../preview/preview-button.tsx';
import { StatusMark } from '../status/status-mark.tsx';
import { Pill } from '../status/status.tsx';
import classes from './save-bar.module.css';

interface SaveBarProps {
  /** Changes as text: `max fails 3 → 5`. The bar is hidden without changes. */
  changes: readonly string[];
  saving?: boolean;
  /** The changes were restored after a reload or sign-in. */
  isRestored?: boolean;
  saveLabel?: Word;
  /** Preview of the change, if available. */
  preview?: Preview | undefined;
  /** Shown in place of the changes when they cannot be saved. */
  errors?: ReactNode;
  onSave: () => void;
  onDiscard: () => void;
}

/** Sticky bar at the bottom while there are unsaved changes. Ctrl S saves. */
export function SaveBar({
  changes,
  saving = false,
  isRestored = false,
  saveLabel = 'common.savePublish',
  preview,
  errors,
  onSave,
  onDiscard,
}: SaveBarProps) {
  const t = useT();
  const bar = useRef<HTMLElement>(null);
  const shown = changes.length > 0;
  useEffect(() => {
    if (!shown) return;
    const onKey = (event: KeyboardEvent) => {
      if (!isSaveKey(event) || event.isComposing || isCovered(bar.current)) return;
      event.preventDefault();
      onSave();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [shown, onSave]);
  if (!shown) return null;
  return (
    <section ref={bar} className={classes['bar']} aria-label={t('common.form.unsaved', { count: changes.length })}>
      <StatusMark tone={errors ? 'bad' : 'warn'} />
      {isRestored && (
        <output>
          <Pill tone="warn">{t('common.form.restored')}</Pill>
        </output>
      )}
      {errors || (
        <span className={classes['text']}>
          <b>{t('common.form.unsaved', { count: changes.length })}</b> {changes.join(t('common.comma'))}
        </span>
      )}
      <Button variant="subtle" color="gray" className={classes['discard'] ?? ''} onClick={onDiscard}>
        {t('common.discard')}
      </Button>
      {preview && <PreviewButton preview={preview} saveText={t(saveLabel)} onSave={onSave} />}
      <Button loading={saving} onClick={onSave} data-save>
        {t(saveLabel)}
      </Button>
    </section>
  );
}
