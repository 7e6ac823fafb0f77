import type { Icon } from '@tabler/icons-react';
import type { Tone } from '../../theme/theme.ts';

/** One line of the palette. */
export interface Item {
  /** Its own among all that are shown. */
  id: string;
  title: string;
  detail?: string;
  icon?: Icon;
  /** Of a thing with a state, in place of the icon. */
  mark?: { tone: Tone; label: string };
  keys?: readonly string[];
  /** Of a command that makes something: what it makes, without the verb. */
  nouns?: readonly string[];
  /** More words that it is found by. */
  also?: string;
  run: () => unknown;
  /** What can be done with the thing; shown while it is chosen. */
  actions?: readonly Item[];
}
export interface Section {
  id: string;
  title: string;
  items: readonly Item[];
}
