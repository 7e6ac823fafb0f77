// The request context that the database receives with each query: audit triggers store it with every change, and
// If-Match is checked against it. Services need not pass it on.
import { AsyncLocalStorage } from 'node:async_hooks';

export interface Call {
  /** JSON for audit_append() (migration audit_limits). */
  readonly audit: string;
  /** JSON `{ ids, tags }`. Empty without If-Match. */
  readonly match: string;
}

/** Background work has no request and is not audited. */
export const noCall: Call = { audit: '', match: '' };

/** `any`: the connection may keep its previous context. */
type Present = Call | 'any';
const calls = new AsyncLocalStorage<Present>();

export const presentCall = (): Present => calls.getStore() ?? noCall;

/** For queries that change nothing audited. */
export const withoutAudit = <T>(work: () => Promise<T>): Promise<T> => calls.run('any', work);

export const inCall = <T>(call: Call, work: () => Promise<T>): Promise<T> => calls.run(call, work);
