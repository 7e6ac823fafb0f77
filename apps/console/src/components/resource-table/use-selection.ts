import { useCallback, useState } from 'react';

export type Selection = Readonly<Record<string, boolean>>;
export type SetSelection = (change: Selection | ((before: Selection) => Selection)) => void;

/** A selection is of what is on screen: another page, order or filter starts without one. */
export function useSelection(view: string) {
  const [kept, setKept] = useState<{ view: string; selected: Selection }>({ view, selected: {} });
  const selected = kept.view === view ? kept.selected : none;
  const setSelected = useCallback<SetSelection>(
    (change) =>
      setKept((before) => {
        const now = before.view === view ? before.selected : none;
        return { view, selected: typeof change === 'function' ? change(now) : change };
      }),
    [view],
  );
  return { selected, setSelected };
}
const none: Selection = {};
