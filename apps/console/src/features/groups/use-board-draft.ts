// The unpublished changes of a zone's board. They are kept in the browser over a reload.
import { useState } from 'react';
import { useKeepDraft, useStoredDraft } from '../../lib/drafts.ts';
import { isStoredDraft, withChange, withoutObsolete, type Board, type Change } from './board.ts';

export function useBoardDraft(zoneId: string, board: Board) {
  const draftKey = `board ${zoneId}`;
  const restored = useStoredDraft(draftKey, isStoredDraft);
  const [changes, setChanges] = useState(() => withoutObsolete(board, restored?.changes ?? []));
  /** Lines without nodes, which the board does not have yet. */
  const [added, setAdded] = useState<readonly string[]>(restored?.added ?? []);
  const [isRestored, setRestored] = useState(changes.length > 0);
  useKeepDraft(draftKey, () => (changes.length + added.length > 0 ? { changes, added } : undefined));
  return {
    changes,
    added,
    isRestored,
    change: (made: readonly Change[]) =>
      setChanges((before) => made.reduce((all: Change[], one) => withChange(board, all, one), before)),
    addLine: (line: string) => setAdded((before) => [...before, line]),
    discard: () => {
      setChanges([]);
      setAdded([]);
      setRestored(false);
    },
  };
}
