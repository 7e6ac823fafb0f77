// Converts instants to local date-time text in the reader's time zone, and back.
import { time } from './format.ts';

const wallMs = (at: Date) => Date.parse(`${time(at).replaceAll('/', '-').replace(' ', 'T')}Z`);

/** `2026-11-20T17:30` of an instant. */
export const toWall = (iso: string) => time(iso).slice(0, 16).replaceAll('/', '-').replace(' ', 'T');

/** The instant of a local time; null while incomplete. */
export function fromWall(text: string): string | null {
  const asked = Date.parse(`${text}Z`);
  if (Number.isNaN(asked)) return null;
  const offsetAt = (ms: number) => wallMs(new Date(ms)) - ms;
  // The offset may differ at the result, so compute it twice.
  const near = asked - offsetAt(asked);
  return new Date(asked - offsetAt(near)).toISOString();
}
