// Unsaved work outlives a reload and the end of a session. It waits for the same account in the same tab.
import { useEffect, useRef, useState } from 'react';
import { useSession } from '../stores/session.ts';
import { family } from './family.ts';

const place = `edgeloom.drafts.${family}`;

interface Stored {
  accountID: string;
  drafts: Record<string, unknown>;
}
/** What is being edited now: a draft by its key, undefined while nothing is changed. */
const edited = new Map<string, () => unknown>();

/** Stores what is being edited, beside the drafts of other pages. Returns whether anything is. */
export function keepDrafts(accountID: string): boolean {
  const current = Object.fromEntries([...edited].map(([key, draft]) => [key, draft()]));
  // JSON leaves out what is undefined, and with it drafts that were discarded.
  store({ accountID, drafts: { ...draftsOf(accountID), ...current } });
  return Object.values(current).some((draft) => draft !== undefined);
}

const store = (stored: Stored) => sessionStorage.setItem(place, JSON.stringify(stored));
export const dropDrafts = () => sessionStorage.removeItem(place);
const signedIn = () => useSession.getState().account?.id;

function draftsOf(accountID: string | undefined): Record<string, unknown> {
  const stored: Stored | null = JSON.parse(sessionStorage.getItem(place) ?? 'null');
  return stored?.accountID === accountID ? (stored?.drafts ?? {}) : {};
}

/** Removes the stored draft of what is edited now, or what its reader chose to leave. */
function forget(key: string) {
  const accountID = signedIn();
  const { [key]: forgotten, ...others } = draftsOf(accountID);
  if (forgotten !== undefined && accountID !== undefined) store({ accountID, drafts: others });
}

/** A reload ends the page without unmounting it. A phone may end a hidden tab without any further event. */
export function keepDraftsOnReload() {
  const keep = () => {
    const accountID = signedIn();
    if (accountID !== undefined && edited.size > 0) keepDrafts(accountID);
  };
  addEventListener('pagehide', keep);
  document.addEventListener('visibilitychange', () => document.visibilityState === 'hidden' && keep());
}

/** The draft under this key from before a reload or sign-in; `isDraft` checks that its shape is still the one edited here. */
export function useKeptDraft<Draft>(key: string, isDraft: (stored: unknown) => stored is Draft): Draft | null {
  const account = useSession(({ account: current }) => current?.id);
  const [draft] = useState(() => {
    const stored = draftsOf(account)[key];
    return isDraft(stored) ? stored : null;
  });
  // It is taken once: a reader who discards it does not meet it again.
  useEffect(() => forget(key), [key]);
  return draft;
}

/** Called when the draft has to be stored; undefined while nothing is changed. */
export function useKeepDraft(key: string, draft: () => unknown) {
  const latest = useRef(draft);
  useEffect(() => {
    latest.current = draft;
  });
  useEffect(() => {
    edited.set(key, () => latest.current());
    return () => {
      edited.delete(key);
      // Without an account the session has ended: the draft waits for the sign-in.
      forget(key);
    };
  }, [key]);
}
