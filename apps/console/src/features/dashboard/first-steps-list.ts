// The steps from an empty console to a domain that serves visitors.
import { groups } from '@edgeloom/contract/groups/groups.calls.ts';
import { domains } from '@edgeloom/contract/domains/domains.calls.ts';
import type { Word } from '../../lib/i18n.ts';
import type { Endpoint, Received } from '@edgeloom/contract/endpoint.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.calls.ts';
import { products } from '@edgeloom/contract/products/products.calls.ts';
import { clientSites } from '@edgeloom/contract/sites/sites.calls.ts';
import { zones } from '@edgeloom/contract/zones/zones.calls.ts';
import { sitePath } from '../../components/frame/site-scope.ts';

export type Resources = Received<typeof clientSites.resources>;
type StepName = 'zone' | 'node' | 'group' | 'product' | 'site' | 'domain';

export interface Step {
  name: StepName;
  isDone: boolean;
  /** The call that does the step, and its text. */
  creates: Pick<Endpoint, 'can'>;
  verb: Word;
  /** The step that must be done before. */
  after: StepName | null;
  /** Path of its screen within the console. Null while the screen needs an object that is not known. */
  to: string | null;
  /** Whether the screen's main action opens the form. Otherwise the screen is the form, or its list is enough. */
  opensForm: boolean;
}

/** Null counts are of objects that the account may not read. */
export const hasNothingToWatch = ({ nodes, sites }: Resources) => nodes === 0 && sites === 0;

/** In order, without the objects that the account may not read. */
export function firstSteps(found: Resources): Step[] {
  const { zones: zoneCount, nodes: nodeCount, groups: groupCount, firstSite } = found;
  const all: (Omit<Step, 'isDone'> & { count: number | null })[] = [
    {
      name: 'zone',
      count: zoneCount,
      creates: zones.create,
      verb: 'zones.create',
      after: null,
      to: 'nodeManage/zonesList',
      opensForm: true,
    },
    {
      name: 'node',
      count: found.installedNodes,
      creates: nodes.create,
      verb: 'nodes.create',
      after: 'zone',
      to: nodeCount ? 'nodeManage/nodesList?tab=waiting' : 'nodeManage/nodesList/new/install',
      opensForm: false,
    },
    {
      name: 'group',
      count: found.filledGroups,
      creates: groups.create,
      verb: groupCount === 0 ? 'groups.create' : 'dashboard.steps.placeNode',
      after: 'zone',
      to: 'nodeManage/resolutionTitle',
      opensForm: groupCount === 0,
    },
    {
      name: 'product',
      count: found.products,
      creates: products.create,
      verb: 'products.create',
      after: 'zone',
      to: 'nodeManage/productsList',
      opensForm: true,
    },
    {
      name: 'site',
      count: found.sites,
      creates: clientSites.create,
      verb: 'sites.create',
      after: 'product',
      to: 'nodeManage/sitesList',
      opensForm: true,
    },
    {
      name: 'domain',
      count: found.domains,
      creates: domains.createSimple,
      verb: 'domains.create',
      after: 'site',
      to: firstSite ? `${sitePath('client', firstSite, 'domains')}&tab=new` : null,
      opensForm: false,
    },
  ];
  return all.flatMap(({ count, ...step }) => (count === null ? [] : [{ ...step, isDone: count > 0 }]));
}

/** The step can be done now. A step that the account cannot see counts as done. */
export const isOpen = (step: Step, steps: readonly Step[]) =>
  !step.isDone && steps.every(({ name, isDone }) => name !== step.after || isDone);
