import { errors, type ErrorName } from '@edgeloom/contract/errors.ts';

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

/** A batch is all or nothing, and every entry that stands in its way is named. */
export function failTogether(faults: readonly Fault[]): void {
  if (faults.length === 0) return;
  const byReason = [...Map.groupBy(faults, ({ reason }) => reason)];
  const status = Math.max(...byReason.map(([reason]) => errors[reason].status));
  const errorData = byReason.map(([reason, found]) => ({
    code: errors[reason].code,
    // Several reasons may share a number.
    ...('rule' in errors[reason] && { rule: errors[reason].rule }),
    targets: [...new Set(found.map(({ target }) => target))],
  }));
  fail('MULTIPLE', { errorData, status });
}
