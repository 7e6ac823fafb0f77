import { useSession } from '../../stores/session.ts';

/** Recently opened items, newest first, per browser and account. */
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
  // Only local paths, since the storage may contain anything.
  /^\/(?!\/)/.test(item.to);

const key = () => `edgeloom.recent.${useSession.getState().account?.id ?? ''}`;

export function recents(): Recent[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key()) ?? '[]');
    return Array.isArray(stored) ? stored.filter(isRecent).slice(0, MOST) : [];
  } catch {
    return [];
  }
}

export const remember = (opened: Recent) =>
  localStorage.setItem(
    key(),
    JSON.stringify([opened, ...recents().filter(({ to }) => to !== opened.to)].slice(0, MOST)),
  );
