import { announcements } from '@edgeloom/contract/announcements/announcements.calls.ts';
import { useEffect } from 'react';
import { create } from 'zustand';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { useSession } from '../../stores/session.ts';

interface Panel {
  /** Ids that the panel shows; null while it is closed. */
  shown: ReadonlySet<string> | null;
  /** Where the focus was when the panel was opened by the megaphone. */
  cameFrom: HTMLElement | null;
  /** Rises when the remembered ids change. */
  changes: number;
}
const usePanel = create<Panel>(() => ({ shown: null, cameFrom: null, changes: 0 }));

/** `read`: closed by the reader. `opened`: shown once without being asked for. Of each browser and account. */
type Mark = 'read' | 'opened';
const keyOf = (mark: Mark) =>
  `edgeloom.announcements.${mark === 'opened' ? 'opened.' : ''}${useSession.getState().account?.id ?? ''}`;
const marked = (mark: Mark): ReadonlySet<string> =>
  new Set((localStorage.getItem(keyOf(mark)) ?? '').split(' ').filter(Boolean));
const remember = (mark: Mark, ids: readonly string[]) => localStorage.setItem(keyOf(mark), ids.join(' '));

/** Announcements of the reader's operator, those that are unread, and the panel that shows them. */
export function useAnnouncements() {
  const accountId = useSession(({ account }) => account?.id);
  const { data } = useEndpoint(announcements.list, {}, { pollMs: 300_000, enabled: accountId !== undefined });
  const { shown } = usePanel();
  const all = data?.data ?? [];
  const read = marked('read');
  const unread = all.filter(({ id }) => !read.has(id));
  const opened = marked('opened');
  const fresh = unread.filter(({ id }) => !opened.has(id)).map(({ id }) => id);

  const open = () => {
    const from = document.activeElement;
    usePanel.setState({ shown: new Set(all.map(({ id }) => id)), cameFrom: from instanceof HTMLElement ? from : null });
  };
  const close = () => {
    remember(
      'read',
      all.map(({ id }) => id),
    );
    const { cameFrom, changes } = usePanel.getState();
    usePanel.setState({ shown: null, cameFrom: null, changes: changes + 1 });
    cameFrom?.focus();
  };
  return { isKnown: data !== undefined, all, unread, fresh, shown, open, close };
}

/** Opens the panel once for announcements that were never shown; the focus stays where it is. */
export function useOpenOnce(fresh: readonly string[], unread: readonly { id: string }[]) {
  const ids = fresh.join(' ');
  const all = unread.map(({ id }) => id).join(' ');
  useEffect(() => {
    if (ids === '') return;
    remember('opened', all.split(' '));
    usePanel.setState({ shown: new Set(all.split(' ')), cameFrom: null });
  }, [ids, all]);
}
