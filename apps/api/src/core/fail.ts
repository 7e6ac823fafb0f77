import { errors, type ErrorEntry, type ErrorName, type ErrorRule, type Particular } from '@edgeloom/contract/errors.ts';

export interface Particulars {
  errorData?: readonly Particular[];
  extra?: Record<string, unknown>;
  /** For the log only: another program's error. */
  cause?: unknown;
  /** Overrides the catalogue's status. For several errors the highest status counts. */
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

/** Numbers and names that the rule's phrase mentions. */
type PhraseValues = Readonly<Record<string, string | number>>;

export interface FieldError extends Particular {
  readonly path: string;
  readonly rule: ErrorRule;
  readonly message: string;
}

/** An input error that depends on stored data. `path` is the form field. */
export const fieldError = (path: string, rule: ErrorRule, message: string, values?: PhraseValues): FieldError => ({
  path,
  rule,
  message,
  ...(values && { values }),
});

export const failAt = (...at: Parameters<typeof fieldError>): never =>
  fail('PARAMETER', { errorData: [fieldError(...at)] });

/** Error of one entry of a batch. For PARAMETER, the rule and the message identify the input error. */
export interface Fault {
  reason: ErrorName;
  target: string;
  rule?: ErrorRule;
  message?: string;
  values?: PhraseValues;
}

/** Groups entries by cause. Causes differ by reason, rule, message or values. */
export const faultsByReason = (faults: readonly Fault[]) =>
  [
    ...Map.groupBy(faults, ({ reason, rule, message, values }) => JSON.stringify([reason, rule, message, values])),
  ].flatMap(([, found]) => {
    const [first] = found;
    if (!first) return [];
    const { code, rule: own }: ErrorEntry = errors[first.reason];
    const rule = first.rule ?? own;
    return [
      {
        code,
        // Several reasons may share a code.
        ...(rule !== undefined && { rule }),
        ...(first.message !== undefined && { message: first.message }),
        ...(first.values && { values: first.values }),
        targets: [...new Set(found.map(({ target }) => target))],
      },
    ];
  });

/** A batch is all or nothing. The error names every failing entry. */
export function failTogether(faults: readonly Fault[]): void {
  if (faults.length === 0) return;
  const status = Math.max(...faults.map(({ reason }) => errors[reason].status));
  fail('MULTIPLE', { errorData: faultsByReason(faults), status });
}
