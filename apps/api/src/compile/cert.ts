import { certKey } from '@edgeloom/contract/edge/documents.ts';
import type { CertDoc } from '@edgeloom/contract/edge/documents.ts';
import { sealTo } from './seal.ts';

export interface CertRow {
  id: string;
  names: string[];
  notAfter: Date;
  chainPem: string;
  /** Opened: in clear. */
  keyPem: string;
}

export const certDoc = ({ id, names, notAfter, chainPem, keyPem }: CertRow, zoneKey: Buffer): CertDoc => ({
  kind: 'cert',
  id,
  names: [...names].sort((a, b) => (a < b ? -1 : 1)),
  notAfter: notAfter.toISOString(),
  pairs: [{ chainPem, key: sealTo(zoneKey, certKey(id), keyPem) }],
});
