import { create } from 'zustand';
import type { Word } from '../../lib/i18n.ts';

interface Place {
  /** What the page on screen is called; the frame makes the breadcrumb and the window's title from it. */
  title: Word | null;
  name: string | null;
}
export const usePlace = create<Place>(() => ({ title: null, name: null }));

/** Where the reader is. A change of place moves the focus to the new page's title; a page load does not. */
export const reader: { place: string | null } = { place: null };
