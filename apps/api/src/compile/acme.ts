import type { AcmeDoc } from '@edgeloom/contract/edge/documents.ts';

export interface AcmeRow {
  token: string;
  name: string;
  siteId: string;
  keyAuthorization: string;
}

export const acmeDoc = ({ token, name, siteId, keyAuthorization }: AcmeRow): AcmeDoc => ({
  kind: 'acme',
  token,
  name,
  siteID: siteId,
  keyAuthorization,
});
