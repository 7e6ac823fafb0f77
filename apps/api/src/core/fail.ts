import type { ErrorName } from '@edgeloom/contract/errors.ts';

export interface Particulars {
  errorData?: unknown[];
  extra?: Record<string, unknown>;
  /** For the log alone: what somebody else's program said. */
  cause?: unknown;
}

/** A refusal that the caller is told about. Anything else that is thrown is a 500. */
export class Failure extends Error {
  readonly reason: ErrorName;
  readonly particulars: Particulars;

  constructor(reason: ErrorName, particulars: Particulars) {
    super(reason, { cause: particulars.cause });
    this.reason = reason;
    this.particulars = particulars;
  }
}

export function fail(reason: ErrorName, particulars: Particulars = {}): never {
  throw new Failure(reason, particulars);
}

/** A fault of the input that only the data can show; `path` is where a form puts it. */
export const failAt = (path: string, rule: string, message: string): never =>
  fail('PARAMETER', { errorData: [{ path, rule, message }] });
