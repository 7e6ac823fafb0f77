import { crypto } from 'acme-client';
import type { KeyType } from '@edgeloom/contract/certificates/certificates.ts';
import type { Ctx } from '../../core/ctx.ts';
import { contexts } from '../../core/secrets.ts';

export const newKey = async (keyType: KeyType): Promise<string> =>
  (await (keyType === 'rsa' ? crypto.createPrivateRsaKey(2048) : crypto.createPrivateEcdsaKey('P-256'))).toString();

export async function requestFor(names: string[], keyPem: string): Promise<string> {
  const [, csr] = await crypto.createCsr({ commonName: names[0] ?? '', altNames: names }, keyPem);
  return csr.toString();
}

/** A new private key, which is never returned, and its certificate signing request. */
export async function newRequest(
  { installation }: Ctx,
  certificateId: string,
  { names, keyType }: { names: string[]; keyType: KeyType },
) {
  const keyPem = await newKey(keyType);
  const csrKeySealed = installation.secrets.seal(keyPem, contexts.certificateKey(certificateId));
  return { names, csrPem: await requestFor(names, keyPem), csrKeySealed };
}
