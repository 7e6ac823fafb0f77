import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { useT } from '../../lib/i18n.ts';
import { useInsideOverlay } from '../overlay/overlay.tsx';
import { PreviewButton, type Preview } from '../preview/preview-button.tsx';
import classes from './resource-form.module.css';

interface FormButtonsProps {
  label: string;
  isSaving: boolean;
  preview: Preview | undefined;
  onSave: () => void;
  /** The errors, beside the buttons. */
  children: ReactNode;
}

export function FormButtons({ label, isSaving, preview, onSave, children }: FormButtonsProps) {
  const t = useT();
  const overlay = useInsideOverlay();
  return (
    <div className={classes['buttons']}>
      {children}
      {overlay && (
        <Button variant="default" onClick={overlay.close}>
          {t('common.cancel')}
        </Button>
      )}
      {preview && <PreviewButton preview={preview} saveText={label} onSave={onSave} />}
      <Button type="submit" loading={isSaving}>
        {label}
      </Button>
    </div>
  );
}
