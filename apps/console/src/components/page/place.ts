import { create } from 'zustand';
import type { Word } from '../../lib/i18n.ts';

interface Place {
  /** What the page on screen is called; the frame makes the breadcrumb and the window's title from it. */
  title: Word | null;
  name: string | null;
}
export const usePlace = create<Place>(() => ({ title: null, name: null }));
