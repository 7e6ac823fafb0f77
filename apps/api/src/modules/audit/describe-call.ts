// Turns a row of the audit log into the data of the console's sentence: the call, its objects by kind, and their
// counts.
import type { AuditItem, AuditRow, AuditTarget } from '@edgeloom/contract/audit/audit.ts';
import { kindOf, kindOfParam, operationName, type Operation } from '@edgeloom/contract/audit/operations.ts';
import type { AuditInput } from '../../core/ctx.ts';
import type { NamedObject } from '../../core/named-objects.ts';

export interface StoredRow extends Omit<
  AuditRow,
  'code' | 'device' | 'operation' | 'kind' | 'targets' | 'within' | 'values' | 'changeCount'
> {
  /** Null in rows of older releases. */
  context: (Partial<AuditInput> & { code?: number; extra?: AuditRow['values']; device?: string }) | null;
  stored: readonly NamedObject[];
  tally: readonly { entity: string; action: 'insert' | 'update' | 'delete'; count: number }[];
}

const SHOWN_AT_MOST = 3;
const Uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The objects that the address names, outermost first. */
const placesOf = ({ endpoint, params }: Operation) =>
  Object.entries(params).flatMap(([name, id]) => {
    const kind = kindOfParam(endpoint, name);
    return kind !== null && Uuid.test(id) ? [{ kind, id }] : [];
  });

function kindsOf(stored: StoredRow['stored'], operation: Operation | null) {
  const kinds = new Map<string, Map<string, string>>();
  const add = (kind: string, id: string, name: string) => {
    const ofKind = kinds.get(kind) ?? new Map<string, string>();
    kinds.set(kind, ofKind.set(id, ofKind.get(id) || name));
  };
  if (operation) for (const { kind, id } of placesOf(operation)) add(kind, id, '');
  for (const { kind, id, name } of stored) add(camel(kind), id, name);
  return kinds;
}

/** The ids for which the console shows whether they still exist and their present name. */
export const shownIds = (row: StoredRow, operation: Operation | null) =>
  [...kindsOf(row.stored, operation).values()]
    .flatMap((named) => [...named.keys()].slice(0, SHOWN_AT_MOST))
    .filter((id) => Uuid.test(id));

export function describe(row: StoredRow, operation: Operation | null, existing: ReadonlyMap<string, string>): AuditRow {
  const { context, stored, tally, ...known } = row;
  const kinds = kindsOf(stored, operation);
  const main = operation ? kindOf(operation.endpoint) : '';
  if (main !== '' && !kinds.has(main)) kinds.set(main, new Map());
  const places = operation ? placesOf(operation) : [];
  const itemOf = (id: string, name: string): AuditItem => ({
    id,
    name: name || (existing.get(id) ?? ''),
    exists: existing.has(id),
  });
  const targets = [...kinds].map(([kind, named]): AuditTarget => {
    const unmade = kind === main && named.size === 0 ? (context?.names ?? []) : [];
    const items = [...named, ...unmade.map((name) => ['', name] as const)]
      .slice(0, SHOWN_AT_MOST)
      .map(([id, name]) => itemOf(id, name));
    const isPlace = places.some((place) => place.kind === kind);
    const counted = kind === main && !isPlace ? (context?.count ?? changedOf(row, kind)) : 0;
    return { kind, count: counted || named.size, items };
  });
  const place = places.findLast(({ kind }) => kind !== main);
  return {
    ...known,
    code: context?.code ?? null,
    device: context?.device ?? '',
    changeCount: tally.reduce((sum, { count }) => sum + count, 0),
    operation: operation ? operationName(operation.endpoint) : '',
    kind: main,
    targets,
    within: place ? { kind: place.kind, ...itemOf(place.id, kinds.get(place.kind)?.get(place.id) ?? '') } : null,
    values: { ...context?.extra, ...(operation && shownParams(operation)), ...context?.values },
  };
}

const shownParams = ({ endpoint, params }: Operation) =>
  Object.fromEntries(Object.entries(params).filter(([name]) => kindOfParam(endpoint, name) === null));

/** How many objects of this kind an older row added, or else changed or removed. */
function changedOf({ tally }: StoredRow, kind: string) {
  const own = tally.filter(({ entity }) => camel(entity) === kind);
  const added = own.filter(({ action }) => action === 'insert');
  return (added.length > 0 ? added : own).reduce((sum, { count }) => sum + count, 0);
}
