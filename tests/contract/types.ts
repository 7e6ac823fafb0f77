// Compile-time tests of the contract's types. A mistake fails the type check.
import * as z from 'zod';
import { routes } from '@edgeloom/api/http/bind.ts';
import { get, onUser, type Received, type Reply, type Request, type Sent } from '@edgeloom/contract/endpoint.ts';
import { cacheRules } from '@edgeloom/contract/cache/cache.endpoints.ts';
import type { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';

// Two types are the same when the compiler takes a function over either for one over the other.
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- T stands for any
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Yes<T extends true> = T;

export type Known = [
  Yes<Same<Request<typeof domains.get>['params'], { siteId: string; domainId: string }>>,
  Yes<Same<Request<typeof domains.list>['query']['sortBy'], 'createdAt' | 'name' | 'updatedAt'>>,
  Yes<Same<Request<typeof domains.list>['body'], undefined>>,
  Yes<Same<Reply<typeof domains.get>['createdAt'], Date>>,
  Yes<Same<Received<typeof domains.get>['createdAt'], string>>,
];

const params = { siteId: 'x' };
export const sent: Sent<typeof domains.list> = { params };
// @ts-expect-error the body is required
export const bodiless: Sent<typeof domains.create> = { params };
// @ts-expect-error the parameter is siteId
export const misspelled: Sent<typeof domains.list> = { params: { siteID: 'x' } };

const group = onUser('x', {
  tail: get('logs/tail', { can: 'log:read', reply: z.object({ a: z.string() }), answers: 'text/event-stream' }),
  kind: get('site/:siteId/module/:kind', {
    can: 'anyone',
    params: { kind: z.enum(['acl', 'cors']) },
    reply: z.string(),
  }),
  csv: get('x.csv', { can: 'anyone', answers: 'text/csv' }),
});

export type KnownOfAnswers = [
  Yes<Same<Reply<typeof group.tail>, AsyncIterable<{ a: string }>>>,
  Yes<Same<Request<typeof group.kind>['params'], { siteId: string; kind: 'acl' | 'cors' }>>,
  Yes<Same<Reply<typeof group.csv>, string>>,
];

// @ts-expect-error boddy is no part of a declaration
get('x', { can: 'anyone', boddy: z.string() });
// @ts-expect-error the path has no :kimd
get('x/:kind', { can: 'anyone', params: { kimd: z.string() } });
// @ts-expect-error no such permission
get('x', { can: 'acl:read' });
// @ts-expect-error no such error
get('x', { can: 'anyone', fails: ['NOPE'] });
// @ts-expect-error a group without a handler for each of its endpoints
routes(cacheRules, { list: async () => ({ data: [], total: 0 }) });
