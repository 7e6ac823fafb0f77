import type { Received } from '@edgeloom/contract/endpoint.ts';
import { antiHeaders, antiReferers, siteAntiHeaders } from '@edgeloom/contract/hotlink/hotlink.endpoints.ts';
import { draftOf } from '../../components/rules/drafts.ts';
import { useDrafting } from '../../components/rules/use-drafting.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import { useCan } from '../../lib/use-can.ts';
import * as header from './header-draft.ts';
import * as referer from './referer-draft.ts';

interface InDomain {
  siteId: string;
  domainId: string;
}
const quiet = { quiet: true };
const idsOf = (made: { data: { id: string }[] } | null) => made?.data.map(({ id }) => id) ?? [];

export function useAntiReferers(params: InDomain, { data }: Received<typeof antiReferers.list>) {
  const can = useCan();
  const create = useAction(antiReferers.create, quiet);
  const update = useAction(antiReferers.update, quiet);
  const remove = useAction(antiReferers.remove, quiet);
  return useDrafting({
    key: `antiReferers ${params.domainId}`,
    live: draftOf(data),
    locked: !can(antiReferers.update),
    fieldsOf: referer.fieldsOf,
    faultsOf: referer.faultsOf,
    isRule: (kept) => 'referers' in kept,
    create: async (rules) => idsOf(await create.run({ params, body: { antiReferers: rules } })),
    update: (rules) => update.run({ params, body: { antiReferers: rules } }),
    remove: (ids) => remove.run({ params, body: { ids } }),
  });
}

export function useAntiHeaders(params: InDomain, { data }: Received<typeof antiHeaders.list>) {
  const can = useCan();
  const create = useAction(antiHeaders.create, quiet);
  const update = useAction(antiHeaders.update, quiet);
  const remove = useAction(antiHeaders.remove, quiet);
  return useDrafting({
    key: `antiHeaders ${params.domainId}`,
    live: draftOf(data),
    locked: !can(antiHeaders.update),
    fieldsOf: header.fieldsOf,
    faultsOf: header.faultsOf,
    isRule: (kept) => 'operator' in kept,
    create: async (rules) => idsOf(await create.run({ params, body: { antiHeaders: rules } })),
    update: (rules) => update.run({ params, body: { antiHeaders: rules } }),
    remove: (ids) => remove.run({ params, body: { ids } }),
  });
}

export function useSiteAntiHeaders(siteId: string, { data }: Received<typeof siteAntiHeaders.list>) {
  const can = useCan();
  const params = { siteId };
  const create = useAction(siteAntiHeaders.create, quiet);
  const update = useAction(siteAntiHeaders.update, quiet);
  const remove = useAction(siteAntiHeaders.remove, quiet);
  return useDrafting({
    key: `antiHeaders ${siteId}`,
    live: draftOf(data),
    locked: !can(siteAntiHeaders.update),
    fieldsOf: header.fieldsOf,
    faultsOf: header.faultsOf,
    isRule: (kept) => 'operator' in kept,
    create: async (rules) => idsOf(await create.run({ params, body: { antiHeaders: rules } })),
    update: (rules) => update.run({ params, body: { antiHeaders: rules } }),
    remove: (ids) => remove.run({ params, body: { ids } }),
  });
}
