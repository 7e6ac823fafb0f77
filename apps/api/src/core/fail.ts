import { errors, type ErrorEntry, type ErrorName } from '@edgeloom/contract/errors.ts';

export interface Particulars {
  errorData?: unknown[];
  extra?: Record<string, unknown>;
  /** For the log only: another program's error. */
  cause?: unknown;
  /** Overrides the catalogue's status. Of several errors the gravest counts. */
  status?: number;
}

/** An error for the caller. Anything else that is thrown becomes a 500. */
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

/** An input error that depends on data. `path` is the form field. */
export const failAt = (path: string, rule: string, message: string): never =>
  fail('PARAMETER', { errorData: [{ path, rule, message }] });

/** The error of one entry of a batch. */
export interface Fault {
  reason: ErrorName;
  target: string;
}

/** Each reason once, with the entries it concerns. */
export const faultsByReason = (faults: readonly Fault[]) =>
  [...Map.groupBy(faults, ({ reason }) => reason)].map(([reason, found]) => {
    const { code, rule }: ErrorEntry = errors[reason];
    // Several reasons may share a code.
    return { code, ...(rule !== undefined && { rule }), targets: [...new Set(found.map(({ target }) => target))] };
  });

/** A batch is all or nothing. The error names every failing entry. */
export function failTogether(faults: readonly Fault[]): void {
  if (faults.length === 0) return;
  const status = Math.max(...faults.map(({ reason }) => errors[reason].status));
  fail('MULTIPLE', { errorData: faultsByReason(faults), status });
}
