import { create } from 'zustand';
import { persist } from 'zustand/middleware';

export interface SavedView {
  name: string;
  /** Query string of the list: `sort=-name&enabled=true`. */
  search: string;
}
/** By account and list, stored in this browser. */
type Views = Record<string, readonly SavedView[]>;

const useViews = create<{ views: Views }>()(persist(() => ({ views: {} }), { name: 'edgeloom.views' }));

const key = (account: string, list: string) => `${account} ${list}`;
const none: readonly SavedView[] = [];

export const useSavedViews = (account: string, list: string) =>
  useViews(({ views }) => views[key(account, list)] ?? none);

const change = (account: string, list: string, to: (views: readonly SavedView[]) => readonly SavedView[]) =>
  useViews.setState(({ views }) => ({
    views: { ...views, [key(account, list)]: to(views[key(account, list)] ?? none) },
  }));

/** Replaces a view with the same name. */
export const saveView = (account: string, list: string, view: SavedView) =>
  change(account, list, (views) =>
    [...views.filter(({ name }) => name !== view.name), view].toSorted((a, b) => a.name.localeCompare(b.name)),
  );

export const removeView = (account: string, list: string, name: string) =>
  change(account, list, (views) => views.filter((view) => view.name !== name));
