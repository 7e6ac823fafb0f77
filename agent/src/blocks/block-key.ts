// Keys of the block set: a network, for the whole zone, or a network and the site that alone blocks it.
import { isNetwork } from '@edgeloom/contract/ipset/network.ts';
import type { Change } from '../nginx/admin.ts';

export const keyOf = (network: string, siteID?: string): string =>
  siteID === undefined ? network : `${network} ${siteID}`;

export function partsOf(key: string): { network: string; siteID: string | undefined } {
  const [network = '', siteID] = key.split(' ');
  return { network, siteID };
}

/** The kernel knows no sites, so it has only the other blocks. */
export const isOfSite = (key: string): boolean => key.includes(' ');

export const isKey = (key: string): boolean => isNetwork(partsOf(key).network);

export function changeOf(key: string, seconds: number, cause: string): Change {
  const { network, siteID } = partsOf(key);
  return siteID === undefined ? [network, seconds, cause] : [network, seconds, cause, siteID];
}
