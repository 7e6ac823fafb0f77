import type { Received } from '@edgeloom/contract/endpoint.ts';
import { domainModules, redirects, urlRedirects } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { REDIRECTS_OF_A_SITE, type RedirectInput } from '@edgeloom/contract/modules/redirects.ts';
import { listDomains } from '../commands/domains.ts';
import { allRows, batches } from '../session.ts';
import type { ApplyContext } from './context.ts';
import { assertListUnchanged, assertRowsUnchanged, conflictError, sendChanged } from './conflicts.ts';
import { compareLists, isEmpty, type ListDifference } from './difference.ts';
import { fieldLine, type PlannedChange, type PlannedSection } from './plan.ts';
import type { SiteFile } from './site-file.ts';

const DOMAINS_OF_A_CALL = 1000;
const kind = 'urlRedirect';

type Redirect = Received<typeof redirects.list>['data'][number];
type WantedModule = NonNullable<SiteFile['redirects']>[number];

interface CurrentModule {
  id: string;
  name: string;
  rules: Redirect[];
  domains: string[];
}
interface ModuleDifference {
  name: string;
  /** Null: the module is new. */
  current: CurrentModule | null;
  rules: ListDifference<RedirectInput, Redirect>;
  assigned: string[];
  unassigned: string[];
}

/** `names` are the site's domains after the section of domains. */
export async function planRedirects(
  context: ApplyContext,
  wanted: readonly WantedModule[],
  names: readonly string[],
): Promise<PlannedSection> {
  const modules = await listModules(context);
  const differences = wanted.map((module) => compareModule(module, modules, names));
  const removed = modules.filter(({ name }) => !wanted.some((module) => module.name === name));
  return {
    title: 'Redirects',
    changes: [
      ...removed.map(({ name, rules }): PlannedChange => ({
        kind: 'remove',
        subject: name,
        details: rules.map((rule) => `- ${ruleText(rule)}`),
      })),
      ...differences.flatMap(changeOf),
    ],
    difference: [removed, differences],
    send: () => send(context, differences, removed),
  };
}

async function listModules({ call, params }: ApplyContext): Promise<CurrentModule[]> {
  const modules = await allRows((page) => call(urlRedirects.list, { params, query: page }));
  const assignments = await listAssignments({ call, params });
  const current: CurrentModule[] = [];
  for (const { id, name } of modules) {
    const rules = await listRules({ call, params }, id);
    const domains = assignments.filter(({ moduleID }) => moduleID === id).map(({ domainName }) => domainName);
    current.push({ id, name, rules, domains });
  }
  return current;
}

const listAssignments = ({ call, params }: Pick<ApplyContext, 'call' | 'params'>) =>
  allRows((page) => call(domainModules.list, { params: { ...params, kind }, query: page }));

const listRules = ({ call, params }: Pick<ApplyContext, 'call' | 'params'>, moduleId: string) =>
  allRows((page) => call(redirects.list, { params: { ...params, moduleId }, query: page }));

function compareModule(module: WantedModule, modules: readonly CurrentModule[], names: readonly string[]) {
  const current = modules.find(({ name }) => name === module.name) ?? null;
  const [before, after] = [current?.domains ?? [], module.domains === 'all' ? names : module.domains];
  return {
    name: module.name,
    current,
    rules: compareLists<RedirectInput, Redirect>(module.rules, current?.rules ?? [], ({ type, source }) =>
      JSON.stringify([type, source]),
    ),
    assigned: after.filter((name) => !before.includes(name)),
    // A domain that the file removes loses the module with itself.
    unassigned: before.filter((name) => !after.includes(name) && names.includes(name)),
  };
}

function changeOf({ name, current, rules, assigned, unassigned }: ModuleDifference): PlannedChange[] {
  if (current !== null && isEmpty(rules) && assigned.length + unassigned.length === 0) return [];
  const details = [
    ...rules.removed.map((rule) => `- ${ruleText(rule)}`),
    ...rules.changed.map(({ wanted, fields }) => `~ ${ruleText(wanted)} (${fields.map(fieldLine).join(', ')})`),
    ...rules.added.map((rule) => `+ ${ruleText(rule)}`),
    ...unassigned.map((domain) => `- for ${domain}`),
    ...assigned.map((domain) => `+ for ${domain}`),
  ];
  return [{ kind: current === null ? 'add' : 'change', subject: name, details }];
}

const ruleText = ({ type, source, target, code }: Pick<Redirect, 'type' | 'source' | 'target' | 'code'>) =>
  `${type} ${source} → ${target} ${code}`;

async function send(
  context: ApplyContext,
  differences: readonly ModuleDifference[],
  removed: readonly CurrentModule[],
) {
  const { call, params, options } = context;
  const rows = await listDomains(context, params.siteId);
  const known = [...removed, ...differences.flatMap(({ current }) => current ?? [])];
  assertAssignments(
    {
      known,
      assigned: differences.flatMap(({ assigned }) => assigned),
      existing: rows.map(({ name }) => name),
    },
    await listAssignments(context),
  );
  const idsOf = (names: readonly string[]) => rows.filter(({ name }) => names.includes(name)).map(({ id }) => id);
  const assign = async (names: readonly string[], moduleID: string | null) => {
    for (const domainIDs of batches(idsOf(names), DOMAINS_OF_A_CALL))
      await call(domainModules.assign, { params: { ...params, kind }, body: { domainIDs, moduleID } }, options);
  };
  // A domain that changes its module is not unassigned in between.
  const moved = new Set(differences.flatMap(({ assigned }) => assigned));
  for (const { name, current, rules, assigned, unassigned } of differences) {
    const moduleId = current?.id ?? (await createModule(context, name));
    await sendRules(context, moduleId, rules);
    await assign(assigned, moduleId);
    await assign(
      unassigned.filter((domain) => !moved.has(domain)),
      null,
    );
  }
  for (const { id, domains, rules } of removed) {
    assertListUnchanged(rules, await listRules(context, id));
    await assign(
      domains.filter((domain) => !moved.has(domain)),
      null,
    );
    await call(urlRedirects.remove, { params, body: { ids: [id] } }, options);
  }
}

interface PlannedAssignments {
  /** The modules of the plan. */
  known: readonly Pick<CurrentModule, 'id' | 'domains'>[];
  /** Domains that get another module. */
  assigned: readonly string[];
  /** Domains that the section of domains has not removed. */
  existing: readonly string[];
}
/** Throws if a domain of the plan has another module now, also one that was created after the plan. */
export function assertAssignments(
  { known, assigned, existing }: PlannedAssignments,
  assignments: readonly { domainName: string; moduleID: string }[],
): void {
  const moduleIds = new Set(known.map(({ id }) => id));
  const planned = new Map(known.flatMap(({ id, domains }) => domains.map((name) => [name, id] as const)));
  const latest = new Map(assignments.map(({ domainName, moduleID }) => [domainName, moduleID] as const));
  const affected = new Set([...planned.keys(), ...assigned]);
  for (const name of existing) {
    const [before, now] = [planned.get(name) ?? null, latest.get(name) ?? null];
    if (before !== now && (affected.has(name) || (now !== null && moduleIds.has(now)))) throw conflictError();
  }
}

async function createModule({ call, params, options }: ApplyContext, name: string): Promise<string> {
  const { data } = await call(urlRedirects.create, { params, body: { modules: [{ name }] } }, options);
  const [module] = data;
  if (module === undefined) throw new Error(`The API did not return the module ${name}.`);
  return module.id;
}

async function sendRules(
  context: ApplyContext,
  moduleId: string,
  { added, changed, removed }: ModuleDifference['rules'],
) {
  const { call, params, options } = context;
  const read = () => listRules(context, moduleId);
  await assertRowsUnchanged(removed, read);
  const inModule = { ...params, moduleId };
  for (const part of batches(removed, DOMAINS_OF_A_CALL))
    await call(redirects.remove, { params: inModule, body: { ids: part.map(({ id }) => id) } }, options);
  await sendChanged(changed, {
    maxRows: REDIRECTS_OF_A_SITE,
    read,
    send: (rules, ifMatch) =>
      call(redirects.update, { params: inModule, body: { redirects: rules } }, { ...options, ifMatch }),
  });
  for (const part of batches(added, REDIRECTS_OF_A_SITE))
    await call(redirects.create, { params: inModule, body: { redirects: part } }, options);
}
