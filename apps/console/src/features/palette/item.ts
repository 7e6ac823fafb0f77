import type { Icon } from '@tabler/icons-react';
import type { Tone } from '../../theme/tokens.ts';

/** One item of the palette. */
export interface Item {
  /** Unique among all visible items. */
  id: string;
  title: string;
  detail?: string;
  icon?: Icon;
  /** Status mark in place of the icon. */
  mark?: { tone: Tone; label: string };
  keys?: readonly string[];
  /** For a create command: names of the object, without the verb. */
  nouns?: readonly string[];
  /** Additional search terms. */
  also?: string;
  run: () => unknown;
  /** The palette stays open after `run`. */
  staysOpen?: boolean;
  /** Actions on the object, shown while it is selected. */
  actions?: readonly Item[];
}
export interface Section {
  id: string;
  title: string;
  items: readonly Item[];
}
