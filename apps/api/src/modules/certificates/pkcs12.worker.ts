// Opens a stranger's PKCS#12 apart from the process: the file itself says how often its password is hashed, and one that
// says a thousand million times is ended with its thread.
//
// node-forge, since it alone opens what Windows and Java write (3DES, RC2) as well as what OpenSSL 3 does (AES, SHA-256).
// It reads only RSA keys itself; others it leaves as ASN.1, which node takes.
import { createPrivateKey } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import forge from 'node-forge';
import * as z from 'zod';

const Input = z.object({ pkcs12: z.string(), password: z.string() });
const { certBag, keyBag, pkcs8ShroudedKeyBag } = z
  .object({ certBag: z.string(), keyBag: z.string(), pkcs8ShroudedKeyBag: z.string() })
  .parse(forge.pki.oids);

export type Opened = { chainPem: string; keyPem: string } | { fault: 'password' | 'format' };

function open({ pkcs12, password }: z.output<typeof Input>): Opened {
  const asn1 = forge.asn1.fromDer(forge.util.decode64(pkcs12));
  const file = forge.pkcs12.pkcs12FromAsn1(asn1, false, password);
  const bags = (bagType: string) => file.getBags({ bagType })[bagType] ?? [];
  const [key] = [...bags(pkcs8ShroudedKeyBag), ...bags(keyBag)];
  const certificates = bags(certBag);
  if (!key || certificates.length === 0) return { fault: 'format' };
  const der = forge.asn1.toDer(key.key ? forge.pki.wrapRsaPrivateKey(forge.pki.privateKeyToAsn1(key.key)) : key.asn1);
  const keyPem = createPrivateKey({ key: Buffer.from(der.getBytes(), 'binary'), format: 'der', type: 'pkcs8' });
  return {
    keyPem: keyPem.export({ type: 'pkcs8', format: 'pem' }).toString(),
    chainPem: certificates.map(pemOf).join(''),
  };
}

function pemOf({ cert, asn1 }: forge.pkcs12.Bag): string {
  const der = forge.asn1.toDer(cert ? forge.pki.certificateToAsn1(cert) : asn1).getBytes();
  return `-----BEGIN CERTIFICATE-----\n${forge.util.encode64(der, 64)}\n-----END CERTIFICATE-----\n`;
}

function tryOpen(): Opened {
  try {
    return open(Input.parse(workerData));
  } catch (error) {
    return { fault: /password|mac could not be verified/i.test(String(error)) ? 'password' : 'format' };
  }
}
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port, not a window
parentPort?.postMessage(tryOpen());
