import { ActionIcon, Button } from '@mantine/core';
import { IconAlertSquareRounded, IconCheck, IconInfoCircle, IconX } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { withCode } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import { isTyped } from '../../lib/is-typed.ts';
import { useFocusHandover } from '../../lib/use-focus-handover.ts';
import { dismiss, useToasts, type Toast } from '../../stores/toasts.ts';
import { undo } from '../../stores/undo.ts';
import { CopyIcon } from '../values/copy.tsx';
import classes from './toasts.module.css';

export function Toasts() {
  const toasts = useToasts((state) => state.toasts);
  const t = useT();
  useUndoKey();
  return (
    <section className={classes['toasts']} aria-label={t('app.notifications')}>
      <output>{toasts.filter(({ tone }) => tone !== 'bad').map(shown)}</output>
      <div role="alert">{toasts.filter(({ tone }) => tone === 'bad').map(shown)}</div>
    </section>
  );
}

/** Ctrl Z undoes the last action, unless a field or an editor has focus. */
function useUndoKey() {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'z' || !(event.ctrlKey || event.metaKey) || event.shiftKey) return;
      if (!event.defaultPrevented && !isTyped(event) && undo()) event.preventDefault();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
}

const shown = (toast: Toast) => <OneToast key={toast.id} toast={toast} />;
const icons = { ok: IconCheck, info: IconInfoCircle, bad: IconAlertSquareRounded };
const seconds = { ok: 4, info: 8, bad: null };

function OneToast({ toast: { id, tone, text, action, code, reqID } }: { toast: Toast }) {
  const t = useT();
  const Icon = icons[tone];
  // Toasts without an action let clicks through.
  const passes = tone === 'ok' && !action;
  const [held, setHeld] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  /** The element that had focus before the message. */
  const former = useRef<EventTarget | null>(null);
  useFocusHandover(box, () => {
    const { current } = former;
    const next = current instanceof HTMLElement && current.isConnected ? current : document.getElementById('content');
    next?.focus({ preventScroll: true });
  });
  useEffect(() => {
    const stay = seconds[tone];
    // A hovered or focused toast stays.
    if (stay === null || held) return;
    const timer = setTimeout(dismiss, stay * 1000, id);
    return () => clearTimeout(timer);
  }, [id, tone, held]);
  return (
    <div
      ref={box}
      className={classes['toast']}
      data-tone={tone}
      data-passes={passes || undefined}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={({ currentTarget, relatedTarget }) => {
        setHeld(true);
        if (!currentTarget.contains(relatedTarget)) former.current = relatedTarget;
      }}
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
          aria-keyshortcuts="Control+Z"
          onClick={() => {
            action.run();
            dismiss(id);
          }}
        >
          {action.label}
          <kbd className={classes['key']} aria-hidden>
            Ctrl Z
          </kbd>
        </Button>
      )}
      {!passes && (
        <ActionIcon
          size={20}
          variant="transparent"
          className={classes['close'] ?? ''}
          aria-label={t('common.close')}
          onClick={() => dismiss(id)}
        >
          <IconX size={14} />
        </ActionIcon>
      )}
    </div>
  );
}
