import { create } from 'zustand';

interface Summoned {
  /** What stands over the page: the command palette, or the list of keys. */
  shown: 'palette' | 'keys' | null;
  /** The address whose page shall open its main form when it is there. */
  creating: string | null;
}
export const usePalette = create<Summoned>(() => ({ shown: null, creating: null }));
export const summon = (shown: Summoned['shown']) => usePalette.setState({ shown });
