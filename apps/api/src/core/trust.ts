// NATS identities. The operator signs two accounts, accounts sign users, and the server trusts signatures: a node joins
// without a change of the server, and is revoked by a new account claim.
import type { Account, Operator, User } from '@nats-io/jwt';
import { newUserSeed, openNatsKey, type NatsKey } from '@edgeloom/contract/edge/nats-key.ts';
import { monitorPermissions, nodePermissions } from '@edgeloom/contract/subjects.ts';
import { createHash } from 'node:crypto';
import { readNatsSeeds } from './secrets-dir.ts';
import type { NatsSeeds } from './secrets-dir.ts';

/** Proves an identity to the server. */
export interface Credentials {
  jwt: string;
  seed: Uint8Array;
}

export interface Trust {
  /** Public key of the account of control plane and nodes. */
  readonly account: string;
  /** The control plane's own credentials, created per process, with all rights in the account. */
  ownCredentials: () => Credentials;
  /** For the system account: presence of nodes, and account claims. */
  systemCredentials: () => Credentials;
  /** The user JWT of a node. Its seed stays on the node. */
  nodeCredentials: (publicKey: string, nodeID: string, zoneID: string) => string;
  /** The user JWT of a monitor. */
  monitorCredentials: (publicKey: string, monitorID: string) => string;
  /** The account claim with these revoked keys. */
  accountClaim: (revokedKeys: readonly string[], issuedAt: Date) => string;
  /** Signs with the account's key, which nodes know from their credentials. */
  sign: (text: string) => Uint8Array;
  serverConfig: (place: ServerPlace) => string;
}

export interface ServerPlace {
  host: string;
  port: number;
  /** The server stores pushed account claims here. */
  jwtDir: string;
  /** Unused without streams. */
  storeDir?: string;
  /**
   * The server knows the nodes' account from the start, for tests without a control plane. Otherwise the control plane
   * sends it with the revoked keys, and no node is admitted before.
   */
  introduced?: boolean;
}

export const openTrust = async (secretsDir: string): Promise<Trust> => trustFrom(await readNatsSeeds(secretsDir));

/** For starting a server only. */
export const serverConfig = async ({ secretsDir, ...place }: ServerPlace & { secretsDir: string }): Promise<string> =>
  (await openTrust(secretsDir)).serverConfig(place);

/** Larger documents fail to compile. The server's limit leaves room for the envelope. */
const MAX_PAYLOAD_BYTES = 8 * 1024 * 1024;

// Omitted limits count as zero.
const unlimited = { conn: -1, subs: -1, data: -1, payload: -1, imports: -1, exports: -1, leaf: -1, wildcards: true };
const anything = { subs: -1, data: -1, payload: -1 };
/** Limits of nodes' messages. */
const nodeLimits = { subs: 100, data: -1, payload: 1024 * 1024 };

// Older than any pushed claim: the server keeps the newer of its stored and configured claims, so a restart never
// restores a revoked key.
const BEFORE_ALL = new Date(1000);
// A revocation covers JWTs signed before this time: all of them, whatever the clocks.
const AFTER_ALL = new Date('2100-01-01T00:00:00Z');

function trustFrom(seeds: NatsSeeds): Trust {
  const [operator, system, account] = [seeds.operatorSeed, seeds.systemSeed, seeds.accountSeed].map((seed) =>
    openNatsKey(seed),
  );
  if (!operator || !system || !account) throw new Error('three seeds are three keys');
  const own = (name: string, account: NatsKey) => {
    const seed = newUserSeed();
    return { jwt: userClaim(name, openNatsKey(seed).publicKey, account, anything), seed };
  };

  const accountClaim = (revokedKeys: readonly string[], issuedAt: Date) => {
    const revocations = Object.fromEntries(revokedKeys.map((key) => [key, seconds(AFTER_ALL)]));
    return sign(operator, 'edgeloom', account.publicKey, issuedAt, {
      type: 'account',
      version: 2,
      limits: unlimited,
      revocations,
    } satisfies Partial<Account>);
  };

  return {
    account: account.publicKey,
    ownCredentials: () => own('control plane', account),
    systemCredentials: () => own('control plane', system),
    nodeCredentials: (publicKey, nodeID, zoneID) =>
      userClaim(nodeID, publicKey, account, { ...nodeLimits, ...nodePermissions(nodeID, zoneID) }),
    monitorCredentials: (publicKey, monitorID) =>
      userClaim(monitorID, publicKey, account, { ...nodeLimits, ...monitorPermissions(monitorID) }),
    accountClaim,
    sign: account.sign,
    serverConfig({ host, port, jwtDir, introduced = false }) {
      const systemKey = system.publicKey;
      const operatorClaim = sign(operator, 'edgeloom', operator.publicKey, BEFORE_ALL, {
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
        // A silent node is noticed within half a minute.
        'ping_interval: "10s"',
        'ping_max: 2',
        'write_deadline: "10s"',
        `operator: ${operatorClaim}`,
        `system_account: ${systemKey}`,
        `resolver { type: full, dir: ${JSON.stringify(jwtDir)}, allow_delete: true, interval: "2m" }`,
        'resolver_preload {',
        `  ${systemKey}: ${systemClaim}`,
        ...(introduced ? [`  ${account.publicKey}: ${accountClaim([], BEFORE_ALL)}`] : []),
        '}',
        '',
      ].join('\n');
    },
  };
}

const seconds = (at: Date) => Math.floor(at.getTime() / 1000);

const userClaim = (name: string, publicKey: string, account: NatsKey, user: Partial<User>) =>
  sign(account, name, publicKey, new Date(), { type: 'user', version: 2, ...user });

/** A NATS JWT. @nats-io/jwt sets its own time, which decides between two claims. */
function sign(issuer: NatsKey, name: string, subject: string, issuedAt: Date, nats: object): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const claim = { aud: 'NATS', sub: subject, name, iss: issuer.publicKey, iat: seconds(issuedAt), nats };
  const jti = createHash('sha256').update(JSON.stringify(claim)).digest('base64url');
  const signed = `${encode({ typ: 'JWT', alg: 'ed25519-nkey' })}.${encode({ ...claim, jti })}`;
  return `${signed}.${Buffer.from(issuer.sign(signed)).toString('base64url')}`;
}
