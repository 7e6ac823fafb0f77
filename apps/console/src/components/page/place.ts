import { create } from 'zustand';
import type { Word } from '../../lib/i18n.ts';

interface Place {
  /** Title of the current page, used by breadcrumb and document title. */
  title: Word | null;
  name: string | null;
}
export const usePlace = create<Place>(() => ({ title: null, name: null }));

/** The current place. Navigation focuses the new page's title; a page load does not. */
export const reader: { place: string | null } = { place: null };
