import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
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

/** The names behind ids, as the meta calls give them. */
export function useMeta(endpoint: Endpoint | undefined, params?: Readonly<Record<string, string>>): Choice[] {
  const { data }: Result<unknown> = useEndpoint(
    endpoint ?? nothing,
    { ...(params && { params }) },
    { enabled: endpoint !== undefined },
  );
  if (typeof data !== 'object' || data === null || !('data' in data) || !Array.isArray(data.data)) return [];
  return data.data.filter(isNamed).map(({ id, name }) => ({ value: id, label: name }));
}
