import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import type { Icon } from '@tabler/icons-react';
import type { LazyExoticComponent, ComponentType } from 'react';
import type { Word } from '../../lib/i18n.ts';

/** What a page makes by its main action, for an account that may: the palette offers it by name. */
export interface Creation {
  call: Pick<Endpoint, 'can'>;
  title: Word;
  /** Where the form is a page of its own: its path, or its tab in a view. */
  form?: string;
}

export interface MenuEntry {
  /** Path in the console, without its prefix. */
  to: string;
  title: Word;
  icon: Icon;
  /** Hidden from who may not read it. */
  reads?: Pick<Endpoint, 'can'>;
  /** Shown once this call has answered: what an installation may do without. */
  answers?: Endpoint;
  /** Other paths that belong to it: a node's page to the nodes. */
  also?: readonly string[];
  /** The letter that leads here after `G`. */
  key?: string;
  creates?: Creation;
  /** What the tabs of one of its things make: the ports of a zone. `meta` names the things. */
  within?: { meta: Endpoint; title: Word; tabs: readonly { tab: string; creates: Creation }[] };
}
export interface MenuGroup {
  title?: Word;
  entries: readonly MenuEntry[];
}

/** A view of the site scope: `?view=domains`. */
export interface SiteView {
  view: string;
  title: Word;
  icon: Icon;
  reads?: Pick<Endpoint, 'can'>;
  creates?: Creation;
  component: LazyExoticComponent<ComponentType>;
}
export interface SiteViewGroup {
  title?: Word;
  views: readonly SiteView[];
}

/** The entry a path belongs to: its own or one below it. */
export function entryAt(groups: readonly MenuGroup[], path: string) {
  const under = (place: string) => path === place || path.startsWith(`${place}/`);
  for (const group of groups)
    for (const entry of group.entries) if ([entry.to, ...(entry.also ?? [])].some(under)) return { group, entry };
  return null;
}
