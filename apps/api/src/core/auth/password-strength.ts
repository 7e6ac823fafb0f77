// zxcvbn estimates the guesses for a password from dictionaries, names, dates, keyboard rows, and repetitions.
import type { ErrorRule } from '@edgeloom/contract/errors.ts';
import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common';
import { failAt } from '../fail.ts';

/** At least a million guesses. Sign-in is rate limited, and argon2 slows offline guessing. */
const MIN_SCORE = 2;
/** The estimate's time grows with the square of the length. */
const MAX_ESTIMATED_LENGTH = 32;

/** The `rule` of the API's error for each warning of zxcvbn. */
const rules: Readonly<Record<string, ErrorRule>> = {
  simpleRepeat: 'repeated',
  extendedRepeat: 'repeated',
  sequences: 'sequence',
  straightRow: 'sequence',
  keyPattern: 'sequence',
  userInputs: 'personal',
  dates: 'personal',
  recentYears: 'personal',
};

let estimator: ZxcvbnFactory | undefined;

export function assertStrongPassword(password: string, { email }: { email: string }): void {
  estimator ??= new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });
  const [name = '', domain = ''] = email.split('@');
  const { score, feedback } = estimator.check(password.slice(0, MAX_ESTIMATED_LENGTH), [
    email,
    name,
    domain,
    'edgeloom',
  ]);
  if (score >= MIN_SCORE && password.trim() !== '') return;
  failAt('password', rules[feedback.warning ?? ''] ?? 'common', 'too easy to guess');
}
