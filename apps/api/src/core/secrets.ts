// Secrets at rest. Each value has its own data key (AES-256-GCM), sealed by the master key, whose id is prefixed.
// Rotation rewraps data keys only (rotate-secrets.ts).
// The context (table and row) is associated data, so a sealed value does not open in another row.
import { createCipheriv, createDecipheriv, createPrivateKey, createPublicKey, randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { masterKeyFile, readMasterKeys, sessionKeyFile } from './secrets-dir.ts';
import type { MasterKey } from './secrets-dir.ts';

export interface Secrets {
  /** Signs access tokens: Ed25519 in PEM. */
  readonly sessionKey: { readonly privatePem: string; readonly publicPem: string };
  seal: (text: string, context: string) => string;
  /** Throws when the text was sealed for another context or was modified. */
  open: (sealed: string, context: string) => string;
  /** Rewraps with the current master key. Unchanged if it is current already. */
  rewrap: (sealed: string) => string;
}

/** The contexts of sealed values, shared by sealing and opening code. */
export const contexts = {
  zoneKey: (zoneId: string) => `zones/${zoneId}/key`,
  acmeAccountKey: (accountId: string) => `acme_accounts/${accountId}/key`,
  nodePassword: (nodeId: string) => `nodes/${nodeId}/ssh_password`,
  nodePrivateKey: (nodeId: string) => `nodes/${nodeId}/ssh_private_key`,
  certificateKey: (certificateId: string) => `certificates/${certificateId}/key`,
  logDestination: (id: string) => `log_destinations/${id}/secrets`,
  listSource: (id: string) => `list_sources/${id}/key`,
  alertChannel: (id: string) => `alert_channels/${id}/secret`,
  tokenKey: (id: string) => `token_keys/${id}/key`,
} as const;

/** Creates a sealed zone key, which seals private keys in the zone's documents. */
export const newZoneKey = (secrets: Secrets, zoneId: string): string =>
  secrets.seal(randomBytes(32).toString('base64'), contexts.zoneKey(zoneId));

export async function openSecrets(dir: string): Promise<Secrets> {
  const privatePem = await readFile(sessionKeyFile(dir), 'utf8');
  const publicPem = createPublicKey(createPrivateKey(privatePem)).export({ type: 'spki', format: 'pem' }).toString();
  return { ...envelope(followMasterKeys(dir)), sessionKey: { privatePem, publicPem } };
}

/** Reads the key file when it changes, so that a running process uses a rotated master key at once. */
function followMasterKeys(dir: string): () => readonly MasterKey[] {
  const stamp = () => {
    const { ino, mtimeMs, size } = statSync(masterKeyFile(dir));
    return `${ino} ${mtimeMs} ${size}`;
  };
  let read = stamp();
  let keys = readMasterKeys(dir);
  return () => {
    const now = stamp();
    if (now === read) return keys;
    keys = readMasterKeys(dir);
    read = now;
    return keys;
  };
}

/** Independent of files. The current key comes first. */
export function envelope(masterKeys: () => readonly MasterKey[]): Omit<Secrets, 'sessionKey'> {
  const currentKey = () => {
    const [current] = masterKeys();
    return current ?? absent();
  };

  const unwrap = (sealed: string) => {
    const [format, keyID, wrapped, box] = sealed.split('.');
    if (format !== 's1' || keyID === undefined || wrapped === undefined || box === undefined)
      throw new Error('not a sealed value');
    const master = masterKeys().find(({ id }) => id === keyID);
    if (!master) throw new Error(`sealed with master key ${keyID}, which is not in master.key`);
    return { keyID, box, dataKey: decrypt(master.key, wrapped, keyID) };
  };
  const wrap = (dataKey: Buffer, box: string) => {
    const { id, key } = currentKey();
    return `s1.${id}.${encrypt(key, dataKey, id)}.${box}`;
  };

  return {
    seal(text, context) {
      const dataKey = randomBytes(32);
      return wrap(dataKey, encrypt(dataKey, Buffer.from(text, 'utf8'), context));
    },
    open(sealed, context) {
      const { box, dataKey } = unwrap(sealed);
      return decrypt(dataKey, box, context).toString('utf8');
    },
    rewrap(sealed) {
      const { keyID, box, dataKey } = unwrap(sealed);
      return keyID === currentKey().id ? sealed : wrap(dataKey, box);
    },
  };
}

const absent = (): never => {
  throw new Error('there is no master key');
};

const IV_BYTES = 12;
const TAG_BYTES = 16;

function encrypt(key: Buffer, plain: Buffer, context: string): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(context, 'utf8'));
  return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]).toString('base64url');
}

function decrypt(key: Buffer, locked: string, context: string): Buffer {
  const box = Buffer.from(locked, 'base64url');
  if (box.length < IV_BYTES + TAG_BYTES) throw new Error('not a sealed value');
  const decipher = createDecipheriv('aes-256-gcm', key, box.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(context, 'utf8'))
    .setAuthTag(box.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(box.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
}
