import { announcements } from '@edgeloom/contract/announcements/announcements.calls.ts';
import { useLayoutEffect } from 'react';
import { create } from 'zustand';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { useSession } from '../../stores/session.ts';

/** Announcement ids of an account in this browser. `read`: dismissed. `opened`: shown once automatically. */
interface Marks {
  read: ReadonlySet<string>;
  opened: ReadonlySet<string>;
}
interface Panel {
  /** Ids that the open panel shows; null when closed. */
  shown: ReadonlySet<string> | null;
  /** The element to return focus to. */
  cameFrom: HTMLElement | null;
  /** By account. */
  marks: Readonly<Record<string, Marks>>;
}
const usePanel = create<Panel>(() => ({ shown: null, cameFrom: null, marks: {} }));

const keyOf = (mark: keyof Marks, accountId: string) =>
  `edgeloom.announcements.${mark === 'opened' ? 'opened.' : ''}${accountId}`;
const stored = (mark: keyof Marks, accountId: string): ReadonlySet<string> =>
  new Set((localStorage.getItem(keyOf(mark, accountId)) ?? '').split(' ').filter(Boolean));
const marksOf = (accountId: string): Marks =>
  usePanel.getState().marks[accountId] ?? { read: stored('read', accountId), opened: stored('opened', accountId) };

function remember(mark: keyof Marks, accountId: string, ids: readonly string[]) {
  localStorage.setItem(keyOf(mark, accountId), ids.join(' '));
  const marks = { ...usePanel.getState().marks, [accountId]: { ...marksOf(accountId), [mark]: new Set(ids) } };
  usePanel.setState({ marks });
}

/** The reader's announcements, the unread ones, and the panel's state. */
export function useAnnouncements() {
  const accountId = useSession(({ account }) => account?.id) ?? '';
  const { data, error } = useEndpoint(announcements.list, {}, { pollMs: 300_000, enabled: accountId !== '' });
  const { shown, marks } = usePanel();
  const { read, opened } = marks[accountId] ?? {
    read: stored('read', accountId),
    opened: stored('opened', accountId),
  };
  const all = data?.data ?? [];
  const unread = all.filter(({ id }) => !read.has(id));
  const fresh = unread.filter(({ id }) => !opened.has(id)).map(({ id }) => id);

  const open = () => {
    const from = document.activeElement;
    usePanel.setState({ shown: new Set(all.map(({ id }) => id)), cameFrom: from instanceof HTMLElement ? from : null });
  };
  const close = () => {
    const { cameFrom } = usePanel.getState();
    remember(
      'read',
      accountId,
      all.map(({ id }) => id),
    );
    usePanel.setState({ shown: null, cameFrom: null });
    cameFrom?.focus();
  };
  return {
    isKnown: data !== undefined,
    isAwaited: accountId !== '' && !data && !error,
    accountId,
    all,
    unread,
    fresh,
    shown,
    open,
    close,
  };
}

/** Opens the panel once for new announcements, without moving focus. */
export function useOpenOnce({ accountId, fresh, unread }: ReturnType<typeof useAnnouncements>) {
  const isFresh = fresh.length > 0;
  const ids = unread.map(({ id }) => id).join(' ');
  // Before the paint of the page that the panel moves down.
  useLayoutEffect(() => {
    if (!isFresh) return;
    remember('opened', accountId, ids.split(' '));
    usePanel.setState({ shown: new Set(ids.split(' ')), cameFrom: null });
  }, [isFresh, ids, accountId]);
}
