// Every endpoint of the contract with minimal input, for tests that iterate over all of them.
import * as z from 'zod';
import { groups } from '@edgeloom/contract/all.ts';
import type { Family, Mount } from '@edgeloom/contract/family.ts';
import { statistics } from '@edgeloom/contract/statistics/statistics.endpoints.ts';
import { mounted, paramNames, type Endpoint } from '@edgeloom/contract/endpoint.ts';
import type { TestApp } from '../services/app.ts';
import { sample } from './sample-input.ts';
import { textAt, objectKindAt, type Ids } from './world.ts';

const Strings = z.record(z.string(), z.string());
export const Input = z.object({ params: Strings, query: Strings, body: z.unknown().optional() });
export type Input = z.output<typeof Input>;
const Body = z.looseObject({
  /** An error number. Successful responses may have a field of this name, too. */
  code: z.union([z.int(), z.string()]).optional(),
  errorData: z.array(z.looseObject({ rule: z.string().optional() })).optional(),
  data: z.array(z.unknown()).optional(),
  list: z.array(z.unknown()).optional(),
});
export interface WireResponse {
  status: number;
  body: z.output<typeof Body>;
}

export interface WireCall {
  endpoint: Endpoint;
  mount: Mount;
  /** The family that may call, null for all. */
  family: Family | null;
  method: string;
  path: string;
  title: string;
}
export const calls: readonly WireCall[] = mounted(groups).map((call) => ({
  ...call,
  title: `${call.method} ${call.path}`,
}));
/** Endpoints whose body selects among rows like a query: what the caller may not see is not there. */
export const filtersByBody: readonly Endpoint[] = [statistics.siteBandwidth];

/** Endpoints that require an account. */
export const authenticatedCalls = calls.filter(({ endpoint }) => endpoint.can !== 'anyone');

/** Sends input that the typed client would reject. */
export async function send(
  app: Pick<TestApp, 'url' | 'adminUrl'>,
  { endpoint, method, path, family }: WireCall,
  { params, query, body }: Input,
  token?: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<WireResponse> {
  const base = family === 'admin' ? app.adminUrl : app.url;
  const url = `${base}/api/v1/${path.replace(/:(\w+)/g, (_, name: string) => params[name] ?? '')}?${new URLSearchParams(query)}`;
  const answer = await fetch(url, {
    method,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && !endpoint.accepts && { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body === undefined ? null : endpoint.accepts ? formOf(body) : JSON.stringify(body),
  });
  // Some streams never end.
  if (answer.headers.get('content-type')?.startsWith('text/event-stream')) {
    await answer.body?.cancel();
    return { status: answer.status, body: {} };
  }
  const text = await answer.text();
  return {
    status: answer.status,
    body: answer.headers.get('content-type')?.startsWith('application/json') ? Body.parse(JSON.parse(text)) : {},
  };
}

function formOf(body: unknown): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(Strings.parse(body))) form.append(name, value);
  return form;
}

/** Minimal input with the ids of a world. Optional ids of the query are included. */
export function inputFor(endpoint: Endpoint, ids: Ids): Input {
  const special = (path: readonly string[]) => {
    const thing = objectKindAt(endpoint, path);
    if (thing === null) return textAt(endpoint, path);
    return /s$/i.test(path.at(-1) ?? '') ? [ids[thing]] : ids[thing];
  };
  const query = Object.keys(endpoint.query?.shape ?? {}).flatMap((name) => {
    const thing = objectKindAt(endpoint, [name]);
    if (thing !== null) return [[name, ids[thing]] as const];
    return name === 'domainName' ? [[name, 'www.example.com'] as const] : [];
  });
  return {
    params: Object.fromEntries(
      paramNames(endpoint.path).map((name) => {
        const choice = endpoint.params?.[name];
        return [
          name,
          choice
            ? String(sample(choice, () => textAt(endpoint, [name])))
            : ids[objectKindAt(endpoint, [name]) ?? 'site'],
        ];
      }),
    ),
    query: Object.fromEntries(query),
    ...(endpoint.body && { body: sample(endpoint.body, special) }),
  };
}
