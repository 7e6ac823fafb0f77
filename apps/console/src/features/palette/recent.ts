import { useSession } from '../../stores/session.ts';

/** What was opened from the palette, newest first; of each browser and account. */
export interface Recent {
  title: string;
  detail: string;
  to: string;
}
const MOST = 6;

const isRecent = (item: unknown): item is Recent =>
  typeof item === 'object' &&
  item !== null &&
  'title' in item &&
  'detail' in item &&
  'to' in item &&
  typeof item.title === 'string' &&
  typeof item.detail === 'string' &&
  typeof item.to === 'string' &&
  // A path of ours, whatever somebody wrote into the storage.
  /^\/(?!\/)/.test(item.to);

const key = () => `edgeloom.recent.${useSession.getState().account?.id ?? ''}`;

export function recents(): Recent[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key()) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isRecent).slice(0, MOST) : [];
  } catch {
    return [];
  }
}

export const remember = (opened: Recent) =>
  localStorage.setItem(
    key(),
    JSON.stringify([opened, ...recents().filter(({ to }) => to !== opened.to)].slice(0, MOST)),
  );
