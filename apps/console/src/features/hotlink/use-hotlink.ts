import type { Received } from '@edgeloom/contract/endpoint.ts';
import { antiHeaders, antiReferers, siteAntiHeaders } from '@edgeloom/contract/hotlink/hotlink.endpoints.ts';
import { draftOf } from '../../components/rules/drafts.ts';
import { useDrafting } from '../../components/rules/use-drafting.ts';
import { useCan } from '../../lib/use-can.ts';
import * as header from './header-draft.ts';
import * as referer from './referer-draft.ts';

type InDomain = {
  siteId: string;
  domainId: string;
};

export function useAntiReferers(params: InDomain, { data }: Received<typeof antiReferers.list>) {
  const can = useCan();
  return useDrafting({
    key: `antiReferers ${params.domainId}`,
    live: draftOf(data),
    locked: !can(antiReferers.update),
    fieldsOf: referer.fieldsOf,
    faultsOf: referer.faultsOf,
    isRule: (kept) => 'referers' in kept,
    calls: antiReferers,
    params,
    field: 'antiReferers',
  });
}

export function useAntiHeaders(params: InDomain, { data }: Received<typeof antiHeaders.list>) {
  const can = useCan();
  return useDrafting({
    key: `antiHeaders ${params.domainId}`,
    live: draftOf(data),
    locked: !can(antiHeaders.update),
    fieldsOf: header.fieldsOf,
    faultsOf: header.faultsOf,
    isRule: (kept) => 'operator' in kept,
    calls: antiHeaders,
    params,
    field: 'antiHeaders',
  });
}

export function useSiteAntiHeaders(siteId: string, { data }: Received<typeof siteAntiHeaders.list>) {
  const can = useCan();
  return useDrafting({
    key: `antiHeaders ${siteId}`,
    live: draftOf(data),
    locked: !can(siteAntiHeaders.update),
    fieldsOf: header.fieldsOf,
    faultsOf: header.faultsOf,
    isRule: (kept) => 'operator' in kept,
    calls: siteAntiHeaders,
    params: { siteId },
    field: 'antiHeaders',
  });
}
