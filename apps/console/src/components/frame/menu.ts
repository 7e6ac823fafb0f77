import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import type { Icon } from '@tabler/icons-react';
import type { LazyExoticComponent, ComponentType } from 'react';
import type { Word } from '../../lib/i18n.ts';

/** The object that a page's main action creates. The palette offers the action by name. */
export interface Creation {
  call: Pick<Endpoint, 'can'>;
  title: Word;
  /** Path of the form, or its tab in a view, when the form is a page. */
  form?: string;
}

export interface MenuEntry {
  /** Path within the console. */
  to: string;
  title: Word;
  icon: Icon;
  /** Hidden without this endpoint's permission. */
  reads?: Pick<Endpoint, 'can'>;
  /** Shown only once this endpoint has returned data, for optional features of an installation. */
  answers?: Endpoint;
  /** Other paths of this entry, such as a node's page for the list of nodes. */
  also?: readonly string[];
  /** Shortcut key after `G`. */
  key?: string;
  creates?: Creation;
}
export interface MenuGroup {
  title?: Word;
  entries: readonly MenuEntry[];
}

/** A page of the site scope: `?view=domains`. */
interface SiteView {
  view: string;
  title: Word;
  icon: Icon;
  reads?: Pick<Endpoint, 'can'>;
  creates?: Creation;
  /** Requests can be simulated beside its rules. */
  canSimulate?: boolean;
  component: LazyExoticComponent<ComponentType>;
}
export interface SiteViewGroup {
  title?: Word;
  views: readonly SiteView[];
}

/** The menu entry of a path. */
export function entryAt(groups: readonly MenuGroup[], path: string) {
  const under = (place: string) => path === place || path.startsWith(`${place}/`);
  for (const group of groups)
    for (const entry of group.entries) if ([entry.to, ...(entry.also ?? [])].some(under)) return { group, entry };
  return null;
}
