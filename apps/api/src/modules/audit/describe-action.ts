// Turns an action of the audit log into the data of the console's sentence: the call, its objects by kind, and their
// counts.
import type { AuditEntry, AuditItem, AuditTarget } from '@edgeloom/contract/audit/audit.ts';
import { kindOf, kindOfParam, operationName, type Operation } from '@edgeloom/contract/audit/operations.ts';
import { isId } from '@edgeloom/contract/common/common.ts';
import type { AuditInput } from '../../core/ctx.ts';
import type { NamedObject } from '../../core/named-objects.ts';

/** A stored action. The first successful call represents all of its calls, or else the first call. */
export interface StoredAction extends Omit<
  AuditEntry,
  'code' | 'device' | 'operation' | 'kind' | 'targets' | 'within' | 'values'
> {
  context: Partial<AuditInput> & { code?: number; extra?: AuditEntry['values']; device?: string };
  stored: readonly NamedObject[];
  /** Objects of all calls that were done. Null: not stored, or every one of several calls failed. */
  objectCount: number | null;
}

interface NamedItem {
  id: string;
  name: string;
}

/** An action with its objects, before it is known which of them still exist. */
export interface ReadAction {
  action: StoredAction;
  operation: Operation | null;
  mainKind: string;
  /** The site, zone or domain in the address that contains the objects. */
  within: (NamedItem & { kind: string }) | null;
  targets: readonly { kind: string; count: number; items: readonly NamedItem[] }[];
}

const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

export function readAction(action: StoredAction, operation: Operation | null, maxItems: number): ReadAction {
  const mainKind = operation ? kindOf(operation.endpoint) : '';
  const inAddress = operation ? objectsInAddress(operation) : [];
  const namesByKind = namesOf(action, inAddress);
  if (mainKind !== '' && !namesByKind.has(mainKind)) namesByKind.set(mainKind, new Map());

  const container = inAddress.findLast(({ kind }) => kind !== mainKind);
  const within = container && { ...container, name: namesByKind.get(container.kind)?.get(container.id) ?? '' };
  if (within) namesByKind.get(within.kind)?.delete(within.id);

  const isInAddress = inAddress.some(({ kind }) => kind === mainKind);
  const targets = [...namesByKind].map(([kind, names]) => {
    const isMain = kind === mainKind;
    const items = [...names].map(([id, name]) => ({ id, name }));
    // Objects that a failed call did not create have names and no ids.
    if (isMain && items.length === 0) items.push(...(action.context.names ?? []).map((name) => ({ id: '', name })));
    return {
      kind,
      count: isMain && !isInAddress ? countOf(action, names.size) : names.size,
      items: items.slice(0, maxItems),
    };
  });
  return {
    action,
    operation,
    mainKind,
    within: within ?? null,
    targets: targets.filter(({ kind, count }) => kind === mainKind || count > 0),
  };
}

/** The objects that the console names. They are looked up for their present name, and whether they still exist. */
export const idsOf = ({ within, targets }: ReadAction): string[] =>
  [within, ...targets.flatMap(({ items }) => items)].flatMap((item) => (item && isId(item.id) ? [item.id] : []));

export function describeAction(
  { action, operation, mainKind, within, targets }: ReadAction,
  presentNames: ReadonlyMap<string, string>,
): AuditEntry {
  const { context } = action;
  const itemOf = ({ id, name }: NamedItem): AuditItem => ({
    id,
    name: name || (presentNames.get(id) ?? ''),
    exists: presentNames.has(id),
  });
  return {
    ...action,
    code: context.code ?? null,
    device: context.device ?? '',
    operation: operation ? operationName(operation.endpoint) : '',
    kind: mainKind,
    targets: targets.map(({ kind, count, items }): AuditTarget => ({ kind, count, items: items.map(itemOf) })),
    within: within && { kind: within.kind, ...itemOf(within) },
    values: { ...context.extra, ...(operation && valuesInAddress(operation)), ...context.values },
  };
}

/** The objects that the address names by their ids, outermost first. */
const objectsInAddress = ({ endpoint, params }: Operation) =>
  Object.entries(params).flatMap(([name, id]) => {
    const kind = kindOfParam(endpoint, name);
    return kind !== null && isId(id) ? [{ kind, id }] : [];
  });

/** Parameters of the address that are no ids, such as the number of a version. */
const valuesInAddress = ({ endpoint, params }: Operation) =>
  Object.fromEntries(Object.entries(params).filter(([name]) => kindOfParam(endpoint, name) === null));

/** Names by id, by kind. A name is empty where only the address has the object. */
function namesOf({ stored }: StoredAction, inAddress: readonly { kind: string; id: string }[]) {
  const byKind = new Map<string, Map<string, string>>();
  const unnamed = inAddress.map((object) => ({ ...object, name: '' }));
  for (const { kind, id, name } of [...unnamed, ...stored.map((object) => ({ ...object, kind: camel(object.kind) }))]) {
    const names = byKind.get(kind) ?? new Map<string, string>();
    byKind.set(kind, names.set(id, names.get(id) || name));
  }
  return byKind;
}

function countOf(action: StoredAction, namedCount: number) {
  // Failed calls may overlap: a batch, then its rows one by one. Their sum would count objects twice.
  if (action.callCount > 1) return action.objectCount ?? 0;
  return action.objectCount || namedCount;
}
