import type { LicenseOffer } from '@edgeloom/contract/licenses/licenses.ts';

type Terms = Omit<LicenseOffer, 'id' | 'name' | 'days' | 'orderCount' | 'createdAt' | 'updatedAt'>;

/** The limits of an offer or an offline license, without its own columns. */
export const termsOf = (row: Terms): Terms => ({
  siteLimit: row.siteLimit,
  nodeLimit: row.nodeLimit,
  zoneLimit: row.zoneLimit,
  domainLimit: row.domainLimit,
  autoCertificateLimit: row.autoCertificateLimit,
  layer4: row.layer4,
  monitorSeconds: row.monitorSeconds,
});
