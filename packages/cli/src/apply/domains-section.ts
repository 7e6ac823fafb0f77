import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { listDomains, waitingLine, type DomainRow } from '../commands/domains.ts';
import { batches } from '../session.ts';
import type { ApplyContext } from './context.ts';
import { assertRowsUnchanged } from './conflicts.ts';
import { compareLists, type FieldChange, type ListDifference } from './difference.ts';
import { fieldLines, planned, type PlannedSection } from './plan.ts';
import type { FileDomain } from './site-file.ts';

const DOMAINS_OF_A_CALL = 1000;

type Fields = Omit<FileDomain, 'name'> & { name: string };

/** The order of tags, ports and origins has no meaning. */
function comparable({ name, tags, enabled, upstreams, scheme, portMap, hostReplace }: Fields): Fields {
  return {
    name,
    enabled,
    tags: tags.toSorted(),
    scheme,
    portMap: portMap.map(({ from, to }) => ({ from, to })).toSorted((a, b) => a.from - b.from),
    hostReplace,
    upstreams: upstreams
      .map(({ address, port, weight, backup, enabled }) => ({ address, port, weight, backup, enabled }))
      .toSorted((a, b) => (a.address === b.address ? a.port - b.port : a.address < b.address ? -1 : 1)),
  };
}

const current = (row: DomainRow) => ({
  ...comparable({ ...row, enabled: row.status === 1 }),
  id: row.id,
  updatedAt: row.updatedAt,
});
/** Cannot be turned on. Once the name is proven, the next run does it. */
const isWaiting = ({ status, proof }: DomainRow) => status === 0 && proof?.state === 'waiting';
type Current = ReturnType<typeof current>;
type ChangedDomain = ListDifference<Fields, Current>['changed'][number];

export async function planDomains(context: ApplyContext, wanted: readonly FileDomain[]): Promise<PlannedSection> {
  const { call, params, options } = context;
  const rows = await listDomains(context, params.siteId);
  const waiting = new Set(rows.filter(isWaiting).map(({ name }) => name));
  const possible = wanted.map((domain) => (waiting.has(domain.name) ? { ...domain, enabled: false } : domain));
  const difference = compareLists<Fields, Current>(possible.map(comparable), rows.map(current), ({ name }) => name);
  const { added, changed, removed } = difference;
  const switched = sharedValues(changed, 'enabled');
  return {
    title: 'Domains',
    changes: planned(
      difference,
      ({ name }) => name,
      (row) => fieldLines(row, ['name']),
    ),
    notes: wanted.filter(({ name, enabled }) => enabled && waiting.has(name)).map(({ name }) => waitingLine(name)),
    difference,
    // Removed ones first, because the number of domains is limited.
    send: async () => {
      const overwritten = [...removed, ...changed.map(({ current }) => current)];
      await assertRowsUnchanged(overwritten, () => listDomains(context, params.siteId));
      for (const part of batches(removed, DOMAINS_OF_A_CALL))
        await call(domains.remove, { params, body: { ids: part.map(({ id }) => id), disable: true } }, options);
      const lines: string[] = [];
      for (const part of batches(added, DOMAINS_OF_A_CALL)) {
        const { waiting: unproven } = await call(domains.create, { params, body: { domains: part } }, options);
        lines.push(...unproven.map(waitingLine));
      }
      await update(context, changed);
      return lines;
    },
    // The API refuses names that need a proof, which is to stop nothing else.
    ...(switched.length > 0 && {
      deferred: {
        title: 'Domains on and off',
        send: async () => {
          for (const { ids, wanted: domain } of switched)
            await call(domains.status, { params, body: { ids, enabled: domain.enabled } }, options);
        },
      },
    }),
  };
}

/** Domains that get the same value of a field share a call. */
async function update(context: ApplyContext, changed: readonly ChangedDomain[]) {
  const { call, params, options } = context;
  for (const { ids, wanted } of sharedValues(changed, 'tags'))
    await call(domains.setTags, { params, body: { ids, tags: wanted.tags } }, options);
  for (const { ids, wanted } of sharedValues(changed, 'upstreams'))
    await call(domains.setUpstreams, { params, body: { ids, upstreams: wanted.upstreams } }, options);
  for (const { wanted, current, fields } of changed) {
    const domain = { ...params, domainId: current.id };
    const { hostReplace, scheme, portMap } = wanted;
    if (isChanged(fields, 'hostReplace'))
      await call(domains.balance, { params: domain, body: { hostReplace } }, options);
    if (isChanged(fields, 'scheme', 'portMap'))
      await call(domains.https, { params: domain, body: { scheme, portMap } }, options);
  }
}

const isChanged = (fields: readonly FieldChange[], ...names: (keyof Fields)[]) =>
  fields.some(({ field }) => names.some((name) => name === field));

function sharedValues(changed: readonly ChangedDomain[], field: keyof Fields) {
  const groups = new Map<string, { ids: string[]; wanted: Fields }>();
  for (const { wanted, current, fields } of changed) {
    if (!isChanged(fields, field)) continue;
    const key = JSON.stringify(wanted[field]);
    const group = groups.get(key) ?? { ids: [], wanted };
    groups.set(key, { ...group, ids: [...group.ids, current.id] });
  }
  return [...groups.values()].flatMap(({ ids, wanted }) =>
    batches(ids, DOMAINS_OF_A_CALL).map((part) => ({ ids: part, wanted })),
  );
}
