// What the database is told of the call on whose behalf it is asked. The audit's triggers put it beside each change, and
// If-Match is judged by it; so it goes along with every query of a call, without a service passing it on.
import { AsyncLocalStorage } from 'node:async_hooks';

export interface Call {
  /** As JSON; what audit_append() reads (migration audit_limits). */
  readonly audit: string;
  /** As JSON, `{ ids, tags }`; empty where the call did not ask for an object as it was. */
  readonly match: string;
}

const calls = new AsyncLocalStorage<Call>();
/** Reads and background work run without a call: nothing of theirs is audited. */
export const none: Call = { audit: '', match: '' };

export const presentCall = (): Call => calls.getStore() ?? none;

/** Of queries that change nothing that is watched: whatever the connection was told last may stay. */
export const unimportant: Call = { audit: '', match: '' };
export const whoever = <T>(work: () => Promise<T>): Promise<T> => calls.run(unimportant, work);

export const inCall = <T>(call: Call, work: () => Promise<T>): Promise<T> => calls.run(call, work);
