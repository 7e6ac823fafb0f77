import { Button, Modal } from '@mantine/core';
import { useState } from 'react';
import { toastError } from '../../lib/errors.ts';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { draft, type Drafted, type Planned } from '../../lib/planned.ts';
import { usePhone } from '../../lib/use-phone.ts';
import { Differences } from '../differences/differences.tsx';
import { ReplayDraft } from '../simulation/replay-draft.tsx';
import { TryDraft } from '../simulation/try-draft.tsx';
import classes from './preview.module.css';

export interface Preview {
  /** Calls that saving would make; null if the form has errors. */
  plan: () => readonly Planned[] | null;
  /** Handles a rejected preview; shows a toast by default. */
  onRefused?: (error: unknown) => void;
}

interface PreviewButtonProps {
  preview: Preview;
  /** Label of the save button. */
  saveText: string;
  onSave: () => void;
}

/** Previews the effect of saving before saving. */
export function PreviewButton({ preview: { plan, onRefused = toastError }, saveText, onSave }: PreviewButtonProps) {
  const t = useT();
  const phone = usePhone();
  const [drafted, setDrafted] = useState<Drafted | null>(null);
  const [planned, setPlanned] = useState<readonly Planned[]>([]);
  const [open, setOpen] = useState(false);
  const [asking, setAsking] = useState(false);
  const ask = async () => {
    const calls = plan();
    if (!calls || calls.length === 0) return;
    setAsking(true);
    try {
      setDrafted(await draft(calls));
      setPlanned(calls);
      setOpen(true);
    } catch (error) {
      onRefused(error);
    } finally {
      setAsking(false);
    }
  };
  return (
    <>
      <Button variant="default" loading={asking} onClick={() => void ask()}>
        {t('versions.draft.button')}
      </Button>
      <Modal
        opened={open}
        onClose={() => setOpen(false)}
        title={t('versions.draft.title')}
        size={860}
        fullScreen={phone}
        zIndex={300}
        closeButtonProps={{ 'aria-label': t('common.close') }}
      >
        {drafted && (
          <div className={classes['preview']}>
            <p>
              {drafted.total === 0
                ? t('versions.draft.nothing')
                : t('versions.draft.would', { number: count(drafted.total), documents: count(drafted.documents) })}
            </p>
            <Differences
              rows={drafted.data}
              total={drafted.total}
              before={t('versions.draft.now')}
              after={t('versions.draft.then')}
            />
            <ReplayDraft planned={planned} />
            <TryDraft planned={planned} />
            <div className={classes['buttons']}>
              <Button variant="default" onClick={() => setOpen(false)}>
                {t('versions.draft.keep')}
              </Button>
              <Button
                onClick={() => {
                  setOpen(false);
                  onSave();
                }}
              >
                {saveText}
              </Button>
            </div>
          </div>
        )}
      </Modal>
    </>
  );
}
