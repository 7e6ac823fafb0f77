import { certKey } from '@edgeloom/contract/edge/documents.ts';
import type { CertDoc } from '@edgeloom/contract/edge/documents.ts';
import { sealTo } from './seal.ts';
import type { ZoneKey } from './seal.ts';

export interface CertRow {
  id: string;
  names: string[];
  notAfter: Date;
  pairs: {
    keyType: string;
    chainPem: string;
    /** Decrypted. */
    keyPem: string;
  }[];
}

export const certDoc = ({ id, names, notAfter, pairs }: CertRow, zoneKey: ZoneKey): CertDoc => ({
  kind: 'cert',
  id,
  names: [...names].sort((a, b) => (a < b ? -1 : 1)),
  notAfter: notAfter.toISOString(),
  pairs: [...pairs]
    .sort((a, b) => (a.keyType < b.keyType ? -1 : 1))
    .map(({ chainPem, keyPem }) => ({ chainPem, key: sealTo(zoneKey, certKey(id), keyPem) })),
});
