// WebAuthn calls. The library is loaded on demand.
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser';
import { passkeys } from '@edgeloom/contract/auth/auth.calls.ts';
import { call } from './api.ts';
import { arrive } from './sign-in.ts';
import { withinChunkLimit } from './time-limit.ts';

/** Passkeys need a host name; they do not work on IP addresses. */
export const canPasskey = () =>
  'PublicKeyCredential' in globalThis && isSecureContext && !/^[\d.]+$|:/.test(location.hostname);

/** As the only factor, or as the second factor after the password. */
export async function signInByPasskey(onePassKey?: string) {
  const { startAuthentication } = await withinChunkLimit(import('@simplewebauthn/browser'));
  const key = onePassKey === undefined ? {} : { onePassKey };
  const { challengeID, options } = await call(passkeys.loginOptions, { body: key });
  if (!isRequest(options)) throw new Error('The challenge of a passkey is incomplete');
  const credential = await startAuthentication({ optionsJSON: options });
  const response = { ...credential, response: { ...credential.response } };
  await arrive(await call(passkeys.login, { body: { ...key, challengeID, response } }));
}

export async function addPasskey(verifyToken: string, name: string) {
  const { startRegistration } = await withinChunkLimit(import('@simplewebauthn/browser'));
  const { challengeID, options } = await call(passkeys.options, { body: { verifyToken } });
  if (!isCreation(options)) throw new Error('The challenge of a passkey is incomplete');
  const credential = await startRegistration({ optionsJSON: options });
  const response = { ...credential, response: { ...credential.response } };
  await call(passkeys.register, { body: { verifyToken, name, challengeID, response } });
}

/** The user cancelled, or the device has no such key. */
export const isDeclined = (error: unknown) =>
  error instanceof Error && ['NotAllowedError', 'AbortError', 'SecurityError'].includes(error.name);

const isRequest = (options: object): options is PublicKeyCredentialRequestOptionsJSON =>
  'challenge' in options && typeof options.challenge === 'string';
const isCreation = (options: object): options is PublicKeyCredentialCreationOptionsJSON =>
  'challenge' in options && 'user' in options && 'rp' in options;
