// Unsaved work outlives the end of a session: it is put aside when one ends, and waits for the same account in the same tab.
import { useEffect, useRef, useState } from 'react';
import { useSession } from '../stores/session.ts';
import { family } from './family.ts';

const place = `edgeloom.drafts.${family}`;

interface Kept {
  accountID: string;
  drafts: Record<string, unknown>;
}
/** What is being edited now: a draft by its key, undefined while nothing is changed. */
const edited = new Map<string, () => unknown>();

/** Answers whether there was something to keep. */
export function keepDrafts(accountID: string): boolean {
  const drafts = Object.fromEntries(
    [...edited].map(([key, draft]) => [key, draft()]).filter(([, draft]) => draft !== undefined),
  );
  if (Object.keys(drafts).length === 0) return false;
  store({ accountID, drafts });
  return true;
}

const store = (kept: Kept) => sessionStorage.setItem(place, JSON.stringify(kept));
export const dropDrafts = () => sessionStorage.removeItem(place);

function draftsOf(accountID: string | undefined): Record<string, unknown> {
  const kept: Kept | null = JSON.parse(sessionStorage.getItem(place) ?? 'null');
  return kept?.accountID === accountID ? (kept?.drafts ?? {}) : {};
}

/** What was being edited under this key when the session ended; `isDraft` says whether it has the shape that is edited here. */
export function useKeptDraft<Draft>(key: string, isDraft: (kept: unknown) => kept is Draft): Draft | null {
  const account = useSession(({ account: signedIn }) => signedIn?.id);
  const [kept] = useState(() => {
    const draft = draftsOf(account)[key];
    return isDraft(draft) ? draft : null;
  });
  // Once: whoever discards it does not meet it again.
  useEffect(() => {
    const { [key]: taken, ...others } = draftsOf(account);
    if (taken !== undefined && account !== undefined) store({ accountID: account, drafts: others });
  }, [account, key]);
  return kept;
}

/** Asked for should the session end; undefined while nothing is changed. */
export function useKeepDraft(key: string, draft: () => unknown) {
  const latest = useRef(draft);
  useEffect(() => {
    latest.current = draft;
  });
  useEffect(() => {
    edited.set(key, () => latest.current());
    return () => void edited.delete(key);
  }, [key]);
}
