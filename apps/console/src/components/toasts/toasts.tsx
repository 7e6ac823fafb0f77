import { ActionIcon, Button } from '@mantine/core';
import { IconAlertSquareRounded, IconCheck, IconInfoCircle, IconX } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { withCode } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import { dismiss, useToasts, type Toast } from '../../stores/toasts.ts';
import { CopyIcon } from '../values/copy.tsx';
import classes from './toasts.module.css';

export function Toasts() {
  const toasts = useToasts((state) => state.toasts);
  const t = useT();
  return (
    <section className={classes['toasts']} aria-label={t('frame.notifications')}>
      <output>{toasts.filter(({ tone }) => tone !== 'bad').map(shown)}</output>
      <div role="alert">{toasts.filter(({ tone }) => tone === 'bad').map(shown)}</div>
    </section>
  );
}

const shown = (toast: Toast) => <OneToast key={toast.id} toast={toast} />;
const icons = { ok: IconCheck, info: IconInfoCircle, bad: IconAlertSquareRounded };
const seconds = { ok: 4, info: 8, bad: null };

function OneToast({ toast: { id, tone, text, action, code, reqID } }: { toast: Toast }) {
  const t = useT();
  const Icon = icons[tone];
  const [held, setHeld] = useState(false);
  useEffect(() => {
    const stay = seconds[tone];
    // Nobody loses what they are about to press.
    if (stay === null || held) return;
    const timer = setTimeout(dismiss, stay * 1000, id);
    return () => clearTimeout(timer);
  }, [id, tone, held]);
  return (
    <div
      className={classes['toast']}
      data-tone={tone}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <Icon size={16} stroke={1.8} className={classes['icon']} aria-hidden />
      <div className={classes['text']}>
        {withCode({ text, code: code ?? null })}
        {reqID && (
          <div className={classes['request']}>
            reqID {reqID} <CopyIcon text={reqID} />
          </div>
        )}
      </div>
      {action && (
        <Button
          size="xs"
          variant="transparent"
          className={classes['action'] ?? ''}
          onClick={() => {
            action.run();
            dismiss(id);
          }}
        >
          {action.label}
        </Button>
      )}
      <ActionIcon
        size={20}
        variant="transparent"
        className={classes['close'] ?? ''}
        aria-label={t('common.close')}
        onClick={() => dismiss(id)}
      >
        <IconX size={14} />
      </ActionIcon>
    </div>
  );
}
