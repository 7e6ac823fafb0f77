import { randomUUID, type KeyObject } from 'node:crypto';
import { signLicense } from '@edgeloom/api/core/license-file.ts';
import type { SignedTerms } from '@edgeloom/contract/licenses/offline-licenses.ts';

const DAY_MS = 86_400_000;

/** A file of an offline license without limits, from yesterday until tomorrow. */
export const licenseFile = (key: KeyObject, terms: Partial<SignedTerms> & Pick<SignedTerms, 'machineCode'>) =>
  signLicense(
    {
      format: 'edgeloom-license/1',
      id: randomUUID(),
      name: 'license',
      siteLimit: 0,
      nodeLimit: 0,
      zoneLimit: 0,
      domainLimit: 0,
      autoCertificateLimit: 0,
      layer4: true,
      monitorSeconds: 0,
      counter: 100,
      issuedAt: new Date(Date.now() - DAY_MS),
      notBefore: new Date(Date.now() - DAY_MS),
      notAfter: new Date(Date.now() + DAY_MS),
      ...terms,
    },
    key,
  );
