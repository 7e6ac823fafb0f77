import { errors, type ErrorEntry, type ErrorName } from '@edgeloom/contract/errors.ts';

export interface Particulars {
  errorData?: unknown[];
  extra?: Record<string, unknown>;
  /** For the log alone: what somebody else's program said. */
  cause?: unknown;
  /** Where the catalogue's does not hold: several faults together take that of the gravest. */
  status?: number;
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

/** What is wrong with some entries of a batch. */
export interface Fault {
  reason: ErrorName;
  target: string;
}

/** Each reason once, with the entries that it stands in the way of. */
export const faultsByReason = (faults: readonly Fault[]) =>
  [...Map.groupBy(faults, ({ reason }) => reason)].map(([reason, found]) => {
    const { code, rule }: ErrorEntry = errors[reason];
    // Several reasons may share a number.
    return { code, ...(rule !== undefined && { rule }), targets: [...new Set(found.map(({ target }) => target))] };
  });

/** A batch is all or nothing, and every entry that stands in its way is named. */
export function failTogether(faults: readonly Fault[]): void {
  if (faults.length === 0) return;
  const status = Math.max(...faults.map(({ reason }) => errors[reason].status));
  fail('MULTIPLE', { errorData: faultsByReason(faults), status });
}
