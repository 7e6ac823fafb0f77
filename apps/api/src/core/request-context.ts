// The request context that the database receives with each query: audit triggers store it with every change, and
// If-Match is checked against it. Services need not pass it on.
import { AsyncLocalStorage } from 'node:async_hooks';

export interface RequestContext {
  /** JSON for audit_append() (migration audit_limits). */
  readonly audit: string;
  /** JSON `{ ids, tags }`. Empty without If-Match. */
  readonly match: string;
}

/** Background work has no request and is not audited. */
export const noContext: RequestContext = { audit: '', match: '' };

/** `any`: the connection may keep its previous context. */
type CurrentContext = RequestContext | 'any';
const contexts = new AsyncLocalStorage<CurrentContext>();

export const currentContext = (): CurrentContext => contexts.getStore() ?? noContext;

/** For queries that change nothing audited. */
export const withoutAudit = <T>(work: () => Promise<T>): Promise<T> => contexts.run('any', work);

export const withContext = <T>(context: RequestContext, work: () => Promise<T>): Promise<T> =>
  contexts.run(context, work);
