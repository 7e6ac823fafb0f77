// Unsaved input survives reloads and expired sessions, for the same account in the same tab.
import { useEffect, useRef, useState } from 'react';
import { useSession } from '../stores/session.ts';
import { family } from './family.ts';

const place = `edgeloom.drafts.${family}`;

interface Stored {
  accountID: string;
  drafts: Record<string, unknown>;
}
/** Drafts being edited, by key; the function returns undefined when nothing is changed. */
const edited = new Map<string, () => unknown>();

/** Stores current drafts beside those of other pages. Returns whether there are any. */
export function keepDrafts(accountID: string): boolean {
  const current = Object.fromEntries([...edited].map(([key, draft]) => [key, draft()]));
  // JSON omits undefined, which removes discarded drafts.
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

/** Removes a stored draft that is restored or discarded. */
function forget(key: string) {
  const accountID = signedIn();
  const { [key]: forgotten, ...others } = draftsOf(accountID);
  if (forgotten !== undefined && accountID !== undefined) store({ accountID, drafts: others });
}

/** A reload does not unmount components, and phones may kill a hidden tab without further events. */
export function keepDraftsOnReload() {
  const keep = () => {
    const accountID = signedIn();
    if (accountID !== undefined && edited.size > 0) keepDrafts(accountID);
  };
  addEventListener('pagehide', keep);
  document.addEventListener('visibilitychange', () => document.visibilityState === 'hidden' && keep());
}

/** The stored draft under this key; `isDraft` validates its shape. */
export function useStoredDraft<Draft>(key: string, isDraft: (stored: unknown) => stored is Draft): Draft | null {
  const account = useSession(({ account: current }) => current?.id);
  const [draft] = useState(() => {
    const stored = draftsOf(account)[key];
    return isDraft(stored) ? stored : null;
  });
  // A draft is restored once, so that a discarded draft does not return.
  useEffect(() => forget(key), [key]);
  return draft;
}

/** Registers a function that returns the draft to store, or undefined. */
export function useKeepDraft(key: string, draft: () => unknown) {
  const latest = useRef(draft);
  useEffect(() => {
    latest.current = draft;
  });
  useEffect(() => {
    edited.set(key, () => latest.current());
    return () => {
      edited.delete(key);
      // Without an account the session has ended, so the draft is kept for the sign-in.
      forget(key);
    };
  }, [key]);
}
