import { create } from 'zustand';

export interface Toast {
  id: number;
  tone: 'ok' | 'info' | 'bad';
  text: string;
  /** An action such as undo. */
  action?: { label: string; run: () => void };
  code?: number;
  reqID?: string;
}
interface Toasts {
  toasts: readonly Toast[];
}
export const useToasts = create<Toasts>(() => ({ toasts: [] }));

let last = 0;

/** Success messages close after four seconds; errors stay. */
export function toast(given: Omit<Toast, 'id' | 'tone'> & { tone?: Toast['tone'] }) {
  last += 1;
  const shown: Toast = { tone: 'ok', ...given, id: last };
  // Merges identical errors of parallel calls.
  useToasts.setState(({ toasts }) => ({
    toasts: [...toasts.filter(({ text, tone }) => text !== shown.text || tone !== shown.tone), shown].slice(-4),
  }));
  return shown.id;
}

export const dismiss = (id: number) =>
  useToasts.setState(({ toasts }) => ({ toasts: toasts.filter((toast) => toast.id !== id) }));

export const dismissAll = () => useToasts.setState({ toasts: [] });
