// Errors of DNS providers.
import { setTimeout } from 'node:timers/promises';

/** The provider refused, with its own message. */
export class DnsRefusedError extends Error {
  readonly code: string;

  constructor(message: string, code = '') {
    super(code === '' ? message : `${message} (${code})`);
    this.code = code;
  }
}

/** Rate limited. Nothing was changed. */
export class DnsRateLimitedError extends DnsRefusedError {
  /** As requested by the provider. */
  readonly afterMs: number;

  constructor(message: string, code: string, retryAfter: string | null) {
    super(message, code);
    const seconds = Number(retryAfter);
    const atMs = Number.isNaN(seconds) ? Date.parse(retryAfter ?? '') - Date.now() : seconds * 1000;
    this.afterMs = Math.min(Math.max(atMs || 0, 0), HOUR_MS);
  }
}

const TURNS = 4;
const FIRST_MS = 250;
const LONGEST_MS = 5000;
const HOUR_MS = 3_600_000;

/** Retries when rate limited, a few times with growing delays, and not before the requested time. */
export async function retryWhenLimited<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  for (let turn = 1; ; turn += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof DnsRateLimitedError) || turn === TURNS || error.afterMs > LONGEST_MS) throw error;
      await setTimeout(error.afterMs + FIRST_MS * 2 ** (turn - 1) * (0.5 + Math.random()));
    }
  }
}

/** For providers without lines. */
export function withoutLine<Records extends { line?: string }>(records: Records): Records {
  if (records.line !== undefined) throw new DnsRefusedError('this provider knows no lines');
  return records;
}

/** Ignores the provider's error for work that is already done. */
export const ignoreCode = (code: string) => (error: unknown) => {
  if (!(error instanceof DnsRefusedError && error.code === code)) throw error;
};

/** The minimum TTL of small plans. */
const SMALL_PLAN_SECONDS = 600;
export async function withTtl(
  ttlSeconds: number,
  tooShort: string,
  send: (ttlSeconds: number) => Promise<unknown>,
): Promise<void> {
  try {
    await send(ttlSeconds);
  } catch (error) {
    if (!(error instanceof DnsRefusedError && error.code === tooShort) || ttlSeconds >= SMALL_PLAN_SECONDS) throw error;
    await send(SMALL_PLAN_SECONDS);
  }
}
