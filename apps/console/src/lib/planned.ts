// API calls as data, to be made or previewed.
import type { Endpoint, Received } from '@edgeloom/contract/endpoint.ts';
import { drafts } from '@edgeloom/contract/drafts/drafts.endpoints.ts';
import type { DraftCall } from '@edgeloom/contract/drafts/drafts.ts';
import { ApiError, type Options } from '@edgeloom/contract/client.ts';
import { call } from './api.ts';

export interface Planned {
  /** An endpoint below `site/:siteId/`. */
  endpoint: Endpoint;
  params?: Readonly<Record<string, string>> | undefined;
  body: unknown;
}
export type Drafted = Received<typeof drafts.run>;

export const make = ({ endpoint, params = {}, body }: Planned, options?: Options): Promise<unknown> =>
  call(endpoint, { params, body }, options);

export const siteOf = (planned: readonly Planned[]): string => planned[0]?.params?.['siteId'] ?? '';

export const callsOf = (planned: readonly Planned[]) =>
  planned.map(({ endpoint: { method, path }, params = {}, body }): DraftCall => ({
    method: method === 'GET' ? 'POST' : method,
    path: path.replace('site/:siteId/', '').replace(/:(\w+)/g, (_, name: string) => params[name] ?? ''),
    body,
  }));

/** Previews the calls in order. Throws the error that the calls would get. */
export const draft = (planned: readonly Planned[]): Promise<Drafted> =>
  call(drafts.run, {
    params: { siteId: siteOf(planned) },
    body: { calls: callsOf(planned) },
  }).catch((error: unknown) => {
    throw error instanceof ApiError ? asItsOwn(error) : error;
  });

/** Maps `calls.0.body.rules.1.value` to `rules.1.value` of the call. */
const asItsOwn = ({ status, envelope, retryAfterSeconds }: ApiError) => {
  const errorData = envelope.errorData.map((fault) =>
    typeof fault === 'object' && fault !== null && 'path' in fault
      ? { ...fault, path: String(fault.path).replace(/^calls\.\d+\.body\./, '') }
      : fault,
  );
  return new ApiError(status, { ...envelope, errorData }, retryAfterSeconds);
};
