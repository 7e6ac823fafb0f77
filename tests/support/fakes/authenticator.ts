// A software authenticator with one passkey, for API tests.
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import * as z from 'zod';

const Options = z.looseObject({ challenge: z.string() });
const text = (value: string | Buffer | Uint8Array) => Buffer.from(value).toString('base64url');

export interface AuthenticatorOptions {
  rpID: string;
  origin: string;
  /** Whether the authenticator verifies the user. */
  verifiesUser?: boolean;
}

export function passkeyDevice({ rpID, origin, verifiesUser = true }: AuthenticatorOptions) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const id = randomBytes(16);
  let uses = 0;

  const clientData = (type: string, options: unknown) =>
    Buffer.from(JSON.stringify({ type, challenge: Options.parse(options).challenge, origin, crossOrigin: false }));
  const authData = (attested: Buffer, flags: number) => {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE((uses += 1));
    const seen = 1 | (verifiesUser ? 4 : 0) | flags;
    return Buffer.concat([createHash('sha256').update(rpID).digest(), Buffer.of(seen), counter, attested]);
  };
  const credential = {
    id: text(id),
    rawId: text(id),
    type: 'public-key' as const,
    clientExtensionResults: {},
  };

  return {
    register(options: unknown) {
      const key = cbor(
        new Map<number, Cbor>([
          [1, 2],
          [3, -7],
          [-1, 1],
          [-2, Buffer.from(x, 'base64url')],
          [-3, Buffer.from(y, 'base64url')],
        ]),
      );
      const length = Buffer.of(0, id.length);
      const attested = Buffer.concat([Buffer.alloc(16), length, id, key]);
      const attestation = new Map<string, Cbor>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', authData(attested, 0x40)],
      ]);
      return {
        ...credential,
        response: {
          clientDataJSON: text(clientData('webauthn.create', options)),
          attestationObject: text(cbor(attestation)),
          transports: ['internal'],
        },
      };
    },
    sign(options: unknown) {
      const data = clientData('webauthn.get', options);
      const auth = authData(Buffer.alloc(0), 0);
      const signature = sign('sha256', Buffer.concat([auth, createHash('sha256').update(data).digest()]), privateKey);
      return {
        ...credential,
        response: { clientDataJSON: text(data), authenticatorData: text(auth), signature: text(signature) },
      };
    },
    /** Resets the signature counter, as a cloned authenticator would have. */
    resetCounter: () => void (uses = 0),
  };
}

type Cbor = number | string | Buffer | Map<number | string, Cbor>;

/** The subset of CBOR (RFC 8949) that attestations need. */
function cbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string') return Buffer.concat([head(3, value.length), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  return Buffer.concat([head(5, value.size), ...[...value].flatMap(([key, part]) => [cbor(key), cbor(part)])]);
}
const head = (type: number, size: number) =>
  size < 24
    ? Buffer.of((type << 5) | size)
    : size < 256
      ? Buffer.of((type << 5) | 24, size)
      : Buffer.of((type << 5) | 25, size >> 8, size & 255);
