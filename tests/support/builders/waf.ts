// A site with a firewall.
import { randomUUID } from 'node:crypto';
import { moduleDoc } from '@edgeloom/api/compile/module.ts';
import type { StoredWafSettings } from '@edgeloom/contract/waf/waf.ts';
import type * as z from 'zod';
import type { Edge } from '../services/edge.ts';

type StoredSettings = z.input<typeof StoredWafSettings>;
export type WafOptions = Partial<StoredSettings>;

/** Refuses requests, at the lowest level. */
export const blockingWaf: StoredSettings = {
  mode: 'block',
  paranoia: 1,
  disabledCategories: [],
  disabledRules: [],
  exceptions: [],
  bodyKiB: 128,
  largeBodies: 'start',
};

/** The document of a firewall. */
export const wafModuleDoc = (over: WafOptions = {}) =>
  moduleDoc({ id: randomUUID(), kind: 'waf', settings: { ...blockingWaf, ...over }, redirects: null });

/** A site with one domain, to which the firewall is assigned. */
export async function siteWithWaf(edge: Edge, over: WafOptions = {}, site: Parameters<Edge['site']>[0] = {}) {
  const doc = wafModuleDoc(over);
  await edge.put(doc);
  return edge.site(site, { modules: { waf: doc.id } });
}
