import { create } from 'zustand';

interface Pending {
  /** The page (`placeOf`). */
  place: string;
  /** Selectors of the buttons to press, in order. */
  press: readonly string[];
}
interface Summoned {
  /** The open overlay: the command palette, or the list of shortcuts. */
  shown: 'palette' | 'keys' | null;
  /** A create form that a page opens once its buttons are there. */
  creating: Pending | null;
}
export const usePalette = create<Summoned>(() => ({ shown: null, creating: null }));
/** A URL reduced to what selects the page: path, view and tab. */
export function placeOf(address: string): string {
  const { pathname, searchParams } = new URL(address, location.origin);
  return [decodeURI(pathname), searchParams.get('view') ?? '', searchParams.get('tab') ?? ''].join(' ');
}
export const summon = (shown: Summoned['shown']) => usePalette.setState({ shown });
