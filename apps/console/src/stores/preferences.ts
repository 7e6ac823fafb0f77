import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import { languageFor } from '../lib/browser-language.ts';
import type { Language } from '../lib/languages.ts';

type Theme = 'light' | 'dark' | 'system';

interface Preferences {
  language: Language;
  theme: Theme;
  density: 'compact' | 'roomy';
  /** `Asia/Taipei`; null means the browser's time zone. */
  timeZone: string | null;
  /** Single-letter shortcuts can interfere with dictation. */
  letterKeys: boolean;
  pageSizes: Record<string, number>;
  /** Visible columns in order, by table. */
  shownColumns: Record<string, readonly string[]>;
  /** Collapsed groups, by table. */
  folded: Record<string, readonly string[]>;
  /** By account: the DNS setup was offered, or its banner was hidden. */
  dnsSetup: Record<string, 'offered' | 'hidden'>;
}

/** public/first-paint.js reads the same key before the first paint. */
export const usePreferences = create<Preferences>()(
  persist(
    (): Preferences => ({
      language: languageFor(globalThis.navigator?.languages ?? []),
      theme: 'system',
      density: 'compact',
      timeZone: null,
      letterKeys: true,
      pageSizes: {},
      shownColumns: {},
      folded: {},
      dnsSetup: {},
    }),
    { name: 'edgeloom.preferences' },
  ),
);
export const prefer = usePreferences.setState;
