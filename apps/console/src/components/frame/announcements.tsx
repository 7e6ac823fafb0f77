import { ActionIcon, Indicator } from '@mantine/core';
import { IconSpeakerphone } from '@tabler/icons-react';
import { useEffect, useRef } from 'react';
import { useT } from '../../lib/i18n.ts';
import { AnnouncementList } from './announcement-list.tsx';
import classes from './announcements.module.css';
import { useAnnouncements, useOpenOnce } from './use-announcements.ts';

const PANEL = 'announcements';

/** The announcements button, with a dot while something is unread. */
export function Megaphone() {
  const t = useT();
  const { isKnown, unread, shown, open, close } = useAnnouncements();
  if (!isKnown) return null;
  return (
    <Indicator disabled={unread.length === 0} color="red" size={7} offset={8}>
      <ActionIcon
        className={classes['megaphone'] ?? ''}
        aria-label={t('announcementSetting.megaphone', { count: unread.length })}
        aria-controls={PANEL}
        aria-expanded={shown !== null}
        onClick={shown === null ? open : close}
      >
        <IconSpeakerphone size={16} stroke={1.6} />
      </ActionIcon>
    </Indicator>
  );
}

const isField = (element: Element | null) => element?.matches('input, textarea, select, [contenteditable]') === true;
const OVER = '[role="dialog"], [role="menu"], [role="listbox"]';

/**
 * Placed between top bar and page, so that it covers nothing. It is not a dialog: page shortcuts keep working. Escape
 * closes the panel unless a field or an overlay has focus.
 */
export function AnnouncementPanel() {
  const t = useT();
  const known = useAnnouncements();
  const { all, shown, close } = known;
  useOpenOnce(known);
  const panel = useRef<HTMLElement>(null);
  const latest = useRef(close);
  useEffect(() => {
    latest.current = close;
  });
  const isOpen = shown !== null;
  useEffect(() => {
    if (!isOpen) return;
    // The panel was opened by its button, so move focus into it.
    if (document.activeElement?.getAttribute('aria-controls') === PANEL) panel.current?.focus();
    const onKey = (event: KeyboardEvent) => {
      const isInside = panel.current?.contains(document.activeElement) === true;
      if (event.key !== 'Escape' || event.isComposing || document.querySelector(OVER)) return;
      if (isField(document.activeElement) && !isInside) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      latest.current();
    };
    window.addEventListener('keydown', onKey, { capture: true });
    return () => window.removeEventListener('keydown', onKey, { capture: true });
  }, [isOpen]);
  if (shown === null) return null;
  return (
    <section
      ref={panel}
      id={PANEL}
      tabIndex={-1}
      className={classes['panel']}
      aria-label={t('announcementSetting.title')}
    >
      <AnnouncementList of={all.filter(({ id }) => shown.has(id))} onClose={close} />
    </section>
  );
}
