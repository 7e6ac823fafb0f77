// Who may speak on NATS. The operator signs two accounts, the accounts sign users, and the server believes what is
// signed: a node joins without any change of the server, and is cut off by a new claim of its account.
import { createUser, fromSeed } from '@nats-io/jwt';
import type { Account, Operator, User } from '@nats-io/jwt';
import { nodePermissions } from '@edgeloom/contract/subjects.ts';
import { createHash } from 'node:crypto';
import { readNatsSeeds } from '../core/secrets-dir.ts';
import type { NatsSeeds } from '../core/secrets-dir.ts';
import { signerOf } from './ed25519.ts';

/** What proves an identity to the server. */
export interface Credentials {
  jwt: string;
  seed: Uint8Array;
}

export interface Trust {
  /** Public key of the account that the control plane and all nodes belong to. */
  readonly account: string;
  /** The control plane's own, made anew by each process: full rights in the account. */
  ownCredentials: () => Credentials;
  /** For the system account: presence of nodes, and pushing claims. */
  systemCredentials: () => Credentials;
  /** The user JWT of a node that made its own key; its seed never comes here. */
  nodeCredentials: (publicKey: string, nodeID: string, zoneID: string) => string;
  /** The account's claim as of a moment, refusing these keys. */
  accountClaim: (revokedKeys: readonly string[], issuedAt: Date) => string;
  /** By the account's own key: nodes know it from their credentials. */
  sign: (text: string) => Uint8Array;
  serverConfig: (place: ServerPlace) => string;
}

export interface ServerPlace {
  host: string;
  port: number;
  /** Takes the account claims that were pushed. */
  jwtDir: string;
  /** Unused as long as there are no streams. */
  storeDir?: string;
  /** The server knows the nodes' account from the start, for tests without a control plane. Else it learns of it, and of
   *  the keys that are revoked, from the control plane, and until then admits no node: also when its store was lost. */
  introduced?: boolean;
}

export const openTrust = async (secretsDir: string): Promise<Trust> => trustFrom(await readNatsSeeds(secretsDir));

/** For whoever starts a server and nothing else. */
export const serverConfig = async ({ secretsDir, ...place }: ServerPlace & { secretsDir: string }): Promise<string> =>
  (await openTrust(secretsDir)).serverConfig(place);

/** Documents above this size are refused when they are compiled: the server carries them with room for their envelope. */
const MAX_PAYLOAD_BYTES = 8 * 1024 * 1024;

// Limits left out count as zero.
const unlimited = { conn: -1, subs: -1, data: -1, payload: -1, imports: -1, exports: -1, leaf: -1, wildcards: true };
const anything = { subs: -1, data: -1, payload: -1 };
/** What a node says is small; what is larger is refused before it reaches us. */
const nodeLimits = { subs: 100, data: -1, payload: 1024 * 1024 };

// Older than any claim that is ever pushed: a server keeps the newer of what it has stored and what its configuration
// says, so a restart never brings back a revoked key.
const BEFORE_ALL = new Date(1000);
// A revocation covers what was signed up to its moment. A revoked key never comes back, whatever a clock said when its
// JWT was signed.
const AFTER_ALL = new Date('2100-01-01T00:00:00Z');

function trustFrom(seeds: NatsSeeds): Trust {
  const [operator, system, account] = [seeds.operatorSeed, seeds.systemSeed, seeds.accountSeed].map(keyOf);
  if (!operator || !system || !account) throw new Error('three seeds are three keys');
  const own = (name: string, account: SigningKey) => {
    const user = createUser();
    return { jwt: userClaim(name, user.getPublicKey(), account, anything), seed: user.getSeed() };
  };

  const accountClaim = (revokedKeys: readonly string[], issuedAt: Date) => {
    const revocations = Object.fromEntries(revokedKeys.map((key) => [key, seconds(AFTER_ALL)]));
    return sign(operator, 'edgeloom', account.getPublicKey(), issuedAt, {
      type: 'account',
      version: 2,
      limits: unlimited,
      revocations,
    } satisfies Partial<Account>);
  };

  return {
    account: account.getPublicKey(),
    ownCredentials: () => own('control plane', account),
    systemCredentials: () => own('control plane', system),
    nodeCredentials: (publicKey, nodeID, zoneID) =>
      userClaim(nodeID, publicKey, account, { ...nodeLimits, ...nodePermissions(nodeID, zoneID) }),
    accountClaim,
    sign: account.sign,
    serverConfig({ host, port, jwtDir, introduced = false }) {
      const systemKey = system.getPublicKey();
      const operatorClaim = sign(operator, 'edgeloom', operator.getPublicKey(), BEFORE_ALL, {
        type: 'operator',
        version: 2,
        system_account: systemKey,
      } satisfies Partial<Operator>);
      const systemClaim = sign(operator, 'system', systemKey, BEFORE_ALL, {
        type: 'account',
        version: 2,
        limits: unlimited,
      } satisfies Partial<Account>);
      return [
        `host: ${JSON.stringify(host)}`,
        `port: ${port}`,
        `max_payload: ${MAX_PAYLOAD_BYTES}`,
        // A node that is gone without a word is noticed within half a minute.
        'ping_interval: "10s"',
        'ping_max: 2',
        'write_deadline: "10s"',
        `operator: ${operatorClaim}`,
        `system_account: ${systemKey}`,
        `resolver { type: full, dir: ${JSON.stringify(jwtDir)}, allow_delete: true, interval: "2m" }`,
        'resolver_preload {',
        `  ${systemKey}: ${systemClaim}`,
        ...(introduced ? [`  ${account.getPublicKey()}: ${accountClaim([], BEFORE_ALL)}`] : []),
        '}',
        '',
      ].join('\n');
    },
  };
}

interface SigningKey {
  getPublicKey: () => string;
  sign: (text: string) => Uint8Array;
}

function keyOf(seed: string): SigningKey {
  const publicKey = fromSeed(new TextEncoder().encode(seed)).getPublicKey();
  return { getPublicKey: () => publicKey, sign: signerOf(seed) };
}
const seconds = (at: Date) => Math.floor(at.getTime() / 1000);

const userClaim = (name: string, publicKey: string, account: SigningKey, user: Partial<User>) =>
  sign(account, name, publicKey, new Date(), { type: 'user', version: 2, ...user });

/** A JWT as NATS wants it. @nats-io/jwt does the same, but stamps its own time, and a claim's time decides which of two
 *  the server keeps. */
function sign(issuer: SigningKey, name: string, subject: string, issuedAt: Date, nats: object): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const claim = { aud: 'NATS', sub: subject, name, iss: issuer.getPublicKey(), iat: seconds(issuedAt), nats };
  const jti = createHash('sha256').update(JSON.stringify(claim)).digest('base64url');
  const signed = `${encode({ typ: 'JWT', alg: 'ed25519-nkey' })}.${encode({ ...claim, jti })}`;
  return `${signed}.${Buffer.from(issuer.sign(signed)).toString('base64url')}`;
}
