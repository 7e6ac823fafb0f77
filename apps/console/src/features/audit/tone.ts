import type { Tone } from '../../theme/theme.ts';

/** A refusal is what the rules are for; only what broke is bad. */
export const toneOfAnswer = (status: number): Tone => {
  if (status === 0) return 'unknown';
  if (status < 300) return 'ok';
  return status < 500 ? 'warn' : 'bad';
};
