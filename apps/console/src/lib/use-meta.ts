import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { nothing, useEndpoint, type Result } from './use-endpoint.ts';

export interface Choice {
  value: string;
  label: string;
}

const isNamed = (item: unknown): item is { id: string; name: string } =>
  typeof item === 'object' &&
  item !== null &&
  'id' in item &&
  'name' in item &&
  typeof item.id === 'string' &&
  typeof item.name === 'string';

/** A forward has no name; its port stands for it. */
const named = (item: unknown) =>
  typeof item === 'object' && item !== null && 'port' in item && typeof item.port === 'number'
    ? { name: String(item.port), ...item }
    : item;

type Label = (row: { id: string; name: string }) => string;
const byName: Label = ({ name }) => name;

/** Rows of a meta call as options; a tag is its own name. */
function pageOf(reply: unknown, label = byName): { page: Choice[]; total: number } {
  if (typeof reply !== 'object' || reply === null || !('data' in reply) || !Array.isArray(reply.data))
    return { page: [], total: 0 };
  const page = reply.data
    .map(named)
    .flatMap((item: unknown): Choice[] =>
      typeof item === 'string'
        ? [{ value: item, label: item }]
        : isNamed(item)
          ? [{ value: item.id, label: label(item) }]
          : [],
    );
  return { page, total: 'total' in reply && typeof reply.total === 'number' ? reply.total : page.length };
}

interface MetaOptions {
  params?: Readonly<Record<string, string>> | undefined;
  /** Fixed query parameters, such as `{ zoneID }`. */
  query?: Readonly<Record<string, unknown>>;
  /** Selected ids, whose names are loaded even if they are not on the page. */
  chosen?: readonly string[];
  /** Options whose names are already known. */
  known?: readonly Choice[];
  /** Label of an option, where the name does not suffice. */
  label?: Label;
  enabled?: boolean;
}

export interface MetaChoices {
  /** Options that match the input. */
  page: readonly Choice[];
  /** Selected options with a name. */
  chosen: readonly Choice[];
  /** Number of further matches. */
  more: number;
  total: number;
  /** Search text sent to the server; empty while the input shows the selected name. */
  question: string;
  typed: string;
  type: (text: string) => void;
  loading: boolean;
  result: Result<unknown>;
}

/** Number of options before anything is typed. */
const PAGE_SIZE = 50;
const TYPING_RESTS_MS = 150;
/** Number of ids that fit into a URL. Further names are loaded by further calls. */
const MAX_IDS = 200;

/** Debounced search of options by a meta call. */
export function useMetaSearch(endpoint: Endpoint | undefined, options: MetaOptions = {}): MetaChoices {
  const { params, query, chosen = none, known = none, label, enabled = true } = options;
  const [typed, type] = useState('');
  const [names, setNames] = useState<ReadonlyMap<string, string>>(new Map());
  const isName = chosen.some((id) => names.get(id) === typed);
  const [text] = useDebouncedValue(isName ? '' : typed.trim(), TYPING_RESTS_MS);
  const question = isName ? '' : text;

  const isAsked = endpoint !== undefined && enabled;
  const search = parameterOf(endpoint, 'keyword', 'name');
  const ids = parameterOf(endpoint, 'ids', 'productIDs');
  const sent = (more: object) => ({ ...(params && { params }), query: { ...query, ...more } });
  const result: Result<unknown> = useEndpoint(
    endpoint ?? nothing,
    sent({ pageSize: PAGE_SIZE, ...(question !== '' && search !== undefined && { [search]: question }) }),
    { enabled: isAsked },
  );
  const { page, total } = pageOf(result.data, label);

  const unnamed = chosen
    .filter((id) => !names.has(id))
    .toSorted()
    .slice(0, MAX_IDS);
  const byID: Result<unknown> = useEndpoint(
    endpoint ?? nothing,
    sent({ [ids ?? 'ids']: unnamed, pageSize: unnamed.length }),
    {
      enabled: isAsked && unnamed.length > 0 && ids !== undefined,
    },
  );
  const read = new Map(
    [...known, ...pageOf(byID.data, label).page, ...page].map((choice) => [choice.value, choice.label]),
  );
  if ([...read].some(([id, name]) => names.get(id) !== name)) setNames(new Map([...names, ...read]));

  return {
    page,
    chosen: chosen.flatMap((id) => {
      const name = names.get(id);
      return name === undefined ? [] : [{ value: id, label: name }];
    }),
    more: Math.max(0, total - page.length),
    total,
    question,
    typed,
    type,
    loading: result.loading || result.refreshing,
    result,
  };
}
const none: readonly never[] = [];
/** The first of these names that is a query parameter of the call. */
const parameterOf = (endpoint: Endpoint | undefined, ...names: string[]) =>
  names.find((name) => endpoint?.queryNames.includes(name));

/** Names of ids. */
export function useNames(endpoint: Endpoint | undefined, ids: readonly string[], params?: MetaOptions['params']) {
  const found: Result<unknown> = useEndpoint(
    endpoint ?? nothing,
    { ...(params && { params }), query: { ids, pageSize: ids.length } },
    { enabled: endpoint !== undefined && ids.length > 0 },
  );
  return pageOf(found.data).page;
}

/** The first option of a meta call. Undefined if there is none. */
export function useFirstChoice(endpoint: Endpoint | undefined, params?: MetaOptions['params']): Choice | undefined {
  const { data }: Result<unknown> = useEndpoint(
    endpoint ?? nothing,
    { ...(params && { params }), query: { pageSize: 1 } },
    { enabled: endpoint !== undefined },
  );
  return pageOf(data).page[0];
}
