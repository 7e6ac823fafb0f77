import { create } from 'zustand';

interface Summoned {
  /** The open overlay: the command palette, or the list of shortcuts. */
  shown: 'palette' | 'keys' | null;
  /** The place (`placeOf`) whose page opens its create form on load. */
  creating: string | null;
}
export const usePalette = create<Summoned>(() => ({ shown: null, creating: null }));
/** A URL reduced to what selects the page: path, view and tab. */
export function placeOf(address: string): string {
  const { pathname, searchParams } = new URL(address, location.origin);
  return [decodeURI(pathname), searchParams.get('view') ?? '', searchParams.get('tab') ?? ''].join(' ');
}
export const summon = (shown: Summoned['shown']) => usePalette.setState({ shown });
