import { create } from 'zustand';

export interface Toast {
  id: number;
  tone: 'ok' | 'info' | 'bad';
  text: string;
  /** Undo, where undoing exists. */
  action?: { label: string; run: () => void };
  code?: number;
  reqID?: string;
}
interface Toasts {
  toasts: readonly Toast[];
}
export const useToasts = create<Toasts>(() => ({ toasts: [] }));

let last = 0;

/** A success leaves by itself after four seconds; an error stays until it is closed. */
export function toast(given: Omit<Toast, 'id' | 'tone'> & { tone?: Toast['tone'] }) {
  last += 1;
  const shown: Toast = { tone: 'ok', ...given, id: last };
  // The same failure of five parallel calls is one message.
  useToasts.setState(({ toasts }) => ({
    toasts: [...toasts.filter(({ text, tone }) => text !== shown.text || tone !== shown.tone), shown].slice(-4),
  }));
  return shown.id;
}

export const dismiss = (id: number) =>
  useToasts.setState(({ toasts }) => ({ toasts: toasts.filter((toast) => toast.id !== id) }));

export const dismissAll = () => useToasts.setState({ toasts: [] });
