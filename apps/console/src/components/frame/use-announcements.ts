import { announcements } from '@edgeloom/contract/announcements/announcements.calls.ts';
import { useEffect } from 'react';
import { create } from 'zustand';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { useSession } from '../../stores/session.ts';

/** Ids of an account in this browser. `read`: closed by the reader. `opened`: shown once without being asked for. */
interface Marks {
  read: ReadonlySet<string>;
  opened: ReadonlySet<string>;
}
interface Panel {
  /** Ids that the panel shows; null while it is closed. */
  shown: ReadonlySet<string> | null;
  /** Where the focus was when the panel was opened by the megaphone. */
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

/** Announcements of the reader's operator, those that are unread, and the panel that shows them. */
export function useAnnouncements() {
  const accountId = useSession(({ account }) => account?.id) ?? '';
  const { data } = useEndpoint(announcements.list, {}, { pollMs: 300_000, enabled: accountId !== '' });
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
  return { isKnown: data !== undefined, accountId, all, unread, fresh, shown, open, close };
}

/** Opens the panel once for announcements that were never shown; the focus stays where it is. */
export function useOpenOnce({ accountId, fresh, unread }: ReturnType<typeof useAnnouncements>) {
  const isFresh = fresh.length > 0;
  const ids = unread.map(({ id }) => id).join(' ');
  useEffect(() => {
    if (!isFresh) return;
    remember('opened', accountId, ids.split(' '));
    usePanel.setState({ shown: new Set(ids.split(' ')), cameFrom: null });
  }, [isFresh, ids, accountId]);
}
