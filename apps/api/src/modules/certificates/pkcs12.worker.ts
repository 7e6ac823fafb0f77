// Opens an untrusted PKCS#12 file in a worker thread: the file sets the iteration count of its password hash, so the
// caller ends the thread after a time limit.
//
// Uses node-forge because it opens files of Windows and Java (3DES, RC2) as well as of OpenSSL 3 (AES, SHA-256). It
// parses only RSA keys; other keys are passed to node as ASN.1.
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
