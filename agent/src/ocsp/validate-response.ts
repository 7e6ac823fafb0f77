// Validates an OCSP response: it is for this certificate, its status is good, it is current, and it is signed by the
// issuer or a responder that the issuer authorized.
import { verify, X509Certificate } from 'node:crypto';
import {
  BasicOCSPResponse,
  OCSPResponse,
  OCSPResponseStatus,
  id_pkix_ocsp_basic,
  type CertID,
  type ResponderID,
  type SingleResponse,
} from '@peculiar/asn1-ocsp';
import { AsnConvert } from '@peculiar/asn1-schema';
import { Certificate, ExtendedKeyUsage, id_ce_extKeyUsage, id_kp_OCSPSigning } from '@peculiar/asn1-x509';
import { keyHashOf, type OcspRequest } from './request.ts';

/** The certificate is revoked, which overrides every earlier response. */
export class RevokedError extends Error {}

/** Tolerated clock skew. */
const CLOCK_SKEW_MS = 300_000;
/** Validity of a response without nextUpdate. */
const DEFAULT_VALIDITY_MS = 3_600_000;
const MAX_SIGNERS = 5;
const digests: Record<string, string> = {
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
};

/** Returns the end of validity. Throws when the response must not be stapled. */
export function validateResponse(response: Uint8Array<ArrayBuffer>, { certID, issuer }: OcspRequest, now: Date): Date {
  const { responseStatus, responseBytes } = AsnConvert.parse(response, OCSPResponse);
  if (responseStatus !== OCSPResponseStatus.successful || responseBytes?.responseType !== id_pkix_ocsp_basic)
    throw new Error(`the responder returned an error (${responseStatus})`);
  const basic = AsnConvert.parse(responseBytes.response, BasicOCSPResponse);
  const single = basic.tbsResponseData.responses.find((one) => isSame(one.certID, certID));
  if (single === undefined) throw new Error('the response is for another certificate');
  assertSigned(basic, issuer, now);
  const until = assertCurrent(single, now);
  if (single.certStatus.revoked !== undefined) throw new RevokedError('the certificate is revoked');
  if (single.certStatus.good === undefined) throw new Error('the responder does not know the certificate');
  return until;
}

const isSame = (one: CertID, other: CertID) =>
  one.hashAlgorithm.algorithm === other.hashAlgorithm.algorithm &&
  isEqual(one.serialNumber, other.serialNumber) &&
  isEqual(one.issuerNameHash.buffer, other.issuerNameHash.buffer) &&
  isEqual(one.issuerKeyHash.buffer, other.issuerKeyHash.buffer);

const isEqual = (one: ArrayBuffer, other: ArrayBuffer) => Buffer.from(one).equals(Buffer.from(other));

function assertCurrent({ thisUpdate, nextUpdate }: SingleResponse, now: Date): Date {
  if (thisUpdate.getTime() > now.getTime() + CLOCK_SKEW_MS) throw new Error('the response is not valid yet');
  const until = nextUpdate ?? new Date(thisUpdate.getTime() + DEFAULT_VALIDITY_MS);
  if (until <= now) throw new Error('the response has expired');
  return until;
}

function assertSigned(basic: BasicOCSPResponse, issuer: X509Certificate, now: Date): void {
  const { tbsResponseDataRaw, signatureAlgorithm, signature, certs = [] } = basic;
  const digest = digests[signatureAlgorithm.algorithm];
  if (digest === undefined || tbsResponseDataRaw === undefined)
    throw new Error('the signature algorithm of the response is not supported');
  const embedded = certs
    .slice(0, MAX_SIGNERS)
    .map((cert) => new X509Certificate(Buffer.from(AsnConvert.serialize(cert))));
  const candidates = [issuer, ...embedded.filter((cert) => isAuthorizedResponder(cert, issuer, now))];
  const signedBytes = new Uint8Array(tbsResponseDataRaw);
  const isSigned = candidates.some(
    (cert) =>
      isNamed(basic.tbsResponseData.responderID, cert) &&
      verify(digest, signedBytes, cert.publicKey, new Uint8Array(signature)),
  );
  if (!isSigned) throw new Error('the response is not signed by an authorized responder');
}

/** Whether the issuer authorized this certificate for OCSP, and it is valid now. */
function isAuthorizedResponder(cert: X509Certificate, issuer: X509Certificate, now: Date): boolean {
  if (!cert.checkIssued(issuer) || !cert.verify(issuer.publicKey)) return false;
  if (cert.validFromDate > now || cert.validToDate <= now) return false;
  const { extensions } = AsnConvert.parse(cert.raw, Certificate).tbsCertificate;
  const usage = extensions?.find(({ extnID }) => extnID === id_ce_extKeyUsage);
  return usage !== undefined && AsnConvert.parse(usage.extnValue, ExtendedKeyUsage).includes(id_kp_OCSPSigning);
}

const isNamed = ({ byKey, byName }: ResponderID, cert: X509Certificate) =>
  byKey !== undefined
    ? isEqual(byKey.buffer, new Uint8Array(keyHashOf(cert)).buffer)
    : byName !== undefined &&
      isEqual(
        AsnConvert.serialize(byName),
        AsnConvert.serialize(AsnConvert.parse(cert.raw, Certificate).tbsCertificate.subject),
      );
