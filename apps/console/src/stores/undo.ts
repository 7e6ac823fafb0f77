import { create } from 'zustand';
import { t } from '../lib/i18n.ts';
import { dismiss, toast } from './toasts.ts';

interface Undo {
  toastID: number;
  /** The page of the action. On another page, Ctrl Z does nothing. */
  place: string;
  run: () => Promise<void>;
}
const useUndo = create<{ last: Undo | null }>(() => ({ last: null }));

const placeNow = () => `${window.location.pathname} ${new URLSearchParams(window.location.search).get('view') ?? ''}`;

/** Shows a message with undo, also by Ctrl Z while the page is open. */
export function toastWithUndo(text: string, run: () => Promise<void>) {
  // Only the last action can be undone.
  const { last } = useUndo.getState();
  if (last) dismiss(last.toastID);
  const toastID = toast({ text, action: { label: t('common.undo'), run: () => void undo() } });
  useUndo.setState({ last: { toastID, place: placeNow(), run } });
}

/** False if there is nothing to undo. */
export function undo() {
  const { last } = useUndo.getState();
  if (last?.place !== placeNow()) return false;
  useUndo.setState({ last: null });
  dismiss(last.toastID);
  void last.run();
  return true;
}
