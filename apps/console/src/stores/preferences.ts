import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import { languageFor } from '../lib/browser-language.ts';

export const languages = ['zh-TW', 'zh-CN', 'en'] as const;
export type Language = (typeof languages)[number];
export type Theme = 'light' | 'dark' | 'system';

interface Preferences {
  language: Language;
  theme: Theme;
  density: 'compact' | 'roomy';
  /** `Asia/Taipei`; null: the browser's own. */
  timeZone: string | null;
  /** Single-letter keys may hinder who dictates. */
  letterKeys: boolean;
  pageSizes: Record<string, number>;
  /** Columns chosen by hand, in their order, by table. */
  shownColumns: Record<string, readonly string[]>;
  /** Groups of tables that are folded away. */
  folded: Record<string, readonly string[]>;
  /** By account: the setup of DNS was offered after a sign-in, or its banner was hidden. */
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
