// A moment as a field for dates takes it: what the clock shows in the reader's zone, without the zone.
import { time } from './format.ts';

const wallMs = (at: Date) => Date.parse(`${time(at).replaceAll('/', '-').replace(' ', 'T')}Z`);

/** `2026-11-20T17:30` of an instant. */
export const toWall = (iso: string) => time(iso).slice(0, 16).replaceAll('/', '-').replace(' ', 'T');

/** The instant that the clock shows so; null while it is not a whole date. */
export function fromWall(text: string): string | null {
  const asked = Date.parse(`${text}Z`);
  if (Number.isNaN(asked)) return null;
  const offsetAt = (ms: number) => wallMs(new Date(ms)) - ms;
  // The zone's offset at the instant itself, which is near the first guess: once more is enough around a change of it.
  const near = asked - offsetAt(asked);
  return new Date(asked - offsetAt(near)).toISOString();
}
