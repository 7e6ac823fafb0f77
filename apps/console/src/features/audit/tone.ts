import type { Tone } from '../../theme/tokens.ts';
import { isPartlyFailed } from './in-words.ts';
import type { LoggedAction } from './sentence.ts';

/** Amber for a refused call, red for an error of the server. */
export const toneOfStatus = (status: number): Tone => {
  if (status === 0) return 'unknown';
  if (status < 300) return 'ok';
  return status < 500 ? 'warn' : 'bad';
};

export const toneOfAction = (row: LoggedAction): Tone => (isPartlyFailed(row) ? 'warn' : toneOfStatus(row.status));
