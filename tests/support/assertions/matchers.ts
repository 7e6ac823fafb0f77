// `await expect(as(client).call(zones.create, { body })).toFail('ZONE_NAME_TAKEN')`
import { expect } from 'vitest';
import { ApiError } from '@edgeloom/contract/client.ts';
import { errors, type ErrorName } from '@edgeloom/contract/errors.ts';

interface ErrorDetails {
  errorData?: unknown[];
  extra?: Record<string, unknown>;
  /** With several errors, the status of the most severe one. */
  status?: number;
}

declare module 'vitest' {
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown> {
    /** Expects this error of the catalogue: code, status and, where there is one, rule. */
    toFail: (name: ErrorName, particulars?: ErrorDetails) => Promise<void>;
  }
}

expect.extend({
  async toFail(received: unknown, name: ErrorName, { status: own, ...particulars }: ErrorDetails = {}) {
    const outcome: unknown = await Promise.resolve(received).catch((error: unknown) => error);
    const { code, status: usual, ...entry } = errors[name];
    const status = own ?? usual;
    const asked = {
      status,
      envelope: {
        code,
        ...('rule' in entry && { errorData: [{ ...('path' in entry && { path: entry.path }), rule: entry.rule }] }),
        ...particulars,
      },
    };
    if (!(outcome instanceof ApiError))
      return { pass: false, message: () => `expected ${name}, but the call answered ${JSON.stringify(outcome)}` };
    const found = { status: outcome.status, envelope: outcome.envelope };
    return {
      pass: this.equals(found, expect.objectContaining({ status, envelope: expect.objectContaining(asked.envelope) })),
      message: () => `expected ${name} ${this.utils.printExpected(asked)}, but got ${this.utils.printReceived(found)}`,
    };
  },
});
