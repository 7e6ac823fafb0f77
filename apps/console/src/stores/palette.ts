import { create } from 'zustand';

interface Summoned {
  /** What stands over the page: the command palette, or the list of keys. */
  shown: 'palette' | 'keys' | null;
  /** The place (`placeOf`) whose page opens its main form as soon as it is there. */
  creating: string | null;
}
export const usePalette = create<Summoned>(() => ({ shown: null, creating: null }));
/** An address without what does not choose a page: path, view and tab. */
export function placeOf(address: string): string {
  const { pathname, searchParams } = new URL(address, location.origin);
  return [decodeURI(pathname), searchParams.get('view') ?? '', searchParams.get('tab') ?? ''].join(' ');
}
export const summon = (shown: Summoned['shown']) => usePalette.setState({ shown });
