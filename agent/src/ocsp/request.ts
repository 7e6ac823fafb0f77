// The OCSP request for a certificate and its responder: the serial number, under hashes of the issuer (RFC 6960, RFC
// 5019).
import { createHash, X509Certificate } from 'node:crypto';
import { CertID, OCSPRequest, Request, TBSRequest } from '@peculiar/asn1-ocsp';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AuthorityInfoAccessSyntax,
  Certificate,
  id_ad_ocsp,
  id_pe_authorityInfoAccess,
} from '@peculiar/asn1-x509';

export interface OcspRequest {
  responder: URL;
  keyType: 'ecdsa' | 'rsa';
  certID: CertID;
  /** The issuer, which signs responses or authorizes a responder. */
  issuer: X509Certificate;
}

export const SHA1 = '1.3.14.3.2.26';
const block = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Null: no responder, or no issuer in the chain. */
export function ocspRequestOf(chainPem: string): OcspRequest | null {
  const [leafPem, issuerPem] = chainPem.match(block) ?? [];
  if (leafPem === undefined || issuerPem === undefined) return null;
  const leaf = new X509Certificate(leafPem);
  // Most certificates name no responder and are not parsed further.
  if (leaf.infoAccess?.includes('OCSP') !== true) return null;
  const issuer = new X509Certificate(issuerPem);
  if (!leaf.checkIssued(issuer) || !leaf.verify(issuer.publicKey)) return null;
  const { tbsCertificate } = AsnConvert.parse(leaf.raw, Certificate);
  const responder = responderOf(tbsCertificate);
  if (responder === null) return null;
  const certID = new CertID({
    hashAlgorithm: new AlgorithmIdentifier({ algorithm: SHA1, parameters: null }),
    issuerNameHash: new OctetString(sha1(AsnConvert.serialize(tbsCertificate.issuer))),
    issuerKeyHash: new OctetString(keyHashOf(issuer)),
    serialNumber: tbsCertificate.serialNumber,
  });
  return { responder, keyType: leaf.publicKey.asymmetricKeyType === 'ec' ? 'ecdsa' : 'rsa', certID, issuer };
}

export const requestOf = ({ certID }: OcspRequest): Buffer =>
  Buffer.from(
    AsnConvert.serialize(
      new OCSPRequest({ tbsRequest: new TBSRequest({ requestList: [new Request({ reqCert: certID })] }) }),
    ),
  );

export const sha1 = (bytes: ArrayBuffer) => createHash('sha1').update(new Uint8Array(bytes)).digest();

/** Identifies responders: a hash of the bare key, without its algorithm. */
export const keyHashOf = (certificate: X509Certificate) =>
  sha1(AsnConvert.parse(certificate.raw, Certificate).tbsCertificate.subjectPublicKeyInfo.subjectPublicKey);

/** The certificate is untrusted input: only http and https are accepted. */
function responderOf({ extensions }: Certificate['tbsCertificate']): URL | null {
  const access = extensions?.find(({ extnID }) => extnID === id_pe_authorityInfoAccess);
  if (access === undefined) return null;
  const named = AsnConvert.parse(access.extnValue, AuthorityInfoAccessSyntax).find(
    ({ accessMethod }) => accessMethod === id_ad_ocsp,
  );
  const address = named?.accessLocation.uniformResourceIdentifier ?? '';
  return /^https?:/i.test(address) && URL.canParse(address) ? new URL(address) : null;
}
