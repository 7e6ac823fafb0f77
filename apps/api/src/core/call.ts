// What the database is told of the call on whose behalf it is asked. The audit's triggers put it beside each change, and
// If-Match is judged by it; so it goes along with every query of a call, without a service passing it on.
import { AsyncLocalStorage } from 'node:async_hooks';

export interface Call {
  /** As JSON; what audit_append() reads (migration audit_limits). */
  readonly audit: string;
  /** As JSON, `{ ids, tags }`; empty where the call did not ask for an object as it was. */
  readonly match: string;
}

/** Background work has no call: nothing of it is audited. */
export const noCall: Call = { audit: '', match: '' };

/** `any`: whatever the connection was told last may stay. */
type Present = Call | 'any';
const calls = new AsyncLocalStorage<Present>();

export const presentCall = (): Present => calls.getStore() ?? noCall;

/** For queries that change nothing that is watched. */
export const whoever = <T>(work: () => Promise<T>): Promise<T> => calls.run('any', work);

export const inCall = <T>(call: Call, work: () => Promise<T>): Promise<T> => calls.run(call, work);
