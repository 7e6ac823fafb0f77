import { listSources, zoneListSources } from '@edgeloom/contract/list-sources/list-sources.endpoints.ts';

/** The site or zone that has the subscribed lists. */
export type SourceOwner = { siteId: string } | { zoneId: string };

export const callsOf = (owner: SourceOwner) => ('siteId' in owner ? listSources : zoneListSources);
