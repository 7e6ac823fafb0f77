// Commands for the operator of the machine:
//   node apps/api/src/cli.ts secrets:init                                  with SECRETS_DIR
//   node apps/api/src/cli.ts secrets:rotate | secrets:retire                with DATABASE_URL and SECRETS_DIR
//   node apps/api/src/cli.ts account:create-admin --email a@b.c [--name N]  with DATABASE_URL and SECRETS_DIR
//   node apps/api/src/cli.ts license:set --client ID [--sites N …]         with DATABASE_URL and SECRETS_DIR
//   node apps/api/src/cli.ts license:key --out FOLDER                      makes a key pair for offline licenses
//   node apps/api/src/cli.ts license:sign --key FILE --machine CODE --name N [--sites N …]   prints a license file
//   node apps/api/src/cli.ts logs:copy                          with DATABASE_URL, SECRETS_DIR, CLICKHOUSE_URL
//   node apps/api/src/cli.ts audit:verify                                  with DATABASE_URL and SECRETS_DIR
import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { AccountName, Email } from '@edgeloom/contract/auth/auth.ts';
import { Id } from '@edgeloom/contract/common/common.ts';
import { SignedTerms } from '@edgeloom/contract/licenses/offline-licenses.ts';
import * as z from 'zod';
import { ClickHouse } from './access-log/clickhouse-client.ts';
import { copyRequests } from './access-log/copy-requests.ts';
import { verifyAudit } from './core/audit-chain.ts';
import { conflictIn } from './core/conflict.ts';
import { openDatabase } from './core/db.ts';
import { retireMasterKeys, rotateMasterKey, type Rotation } from './core/rotate-secrets.ts';
import { initSecrets } from './core/secrets-dir.ts';
import { Env, readEnv } from './core/env.ts';
import { readSigningKey, signLicense } from './core/license-file.ts';
import { hashPassword } from './core/auth/passwords.ts';

const usage = `usage: cli.ts secrets:init | secrets:rotate | secrets:retire | account:create-admin --email <e-mail> [--name <name>] | audit:verify | logs:copy
  | license:set --client <id> [--sites <n>] [--nodes <n>] [--zones <n>] [--domains <n>] [--auto-certificates <n>] [--layer4] [--ends <date>]
  | license:key --out <folder>
  | license:sign --key <file> --machine <code> --name <name> [limits of license:set] [--monitor-seconds <n>] [--layer4] [--ends <date>] [--counter <n>]`;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    email: { type: 'string' },
    name: { type: 'string' },
    client: { type: 'string' },
    sites: { type: 'string' },
    nodes: { type: 'string' },
    zones: { type: 'string' },
    domains: { type: 'string' },
    'auto-certificates': { type: 'string' },
    layer4: { type: 'boolean' },
    ends: { type: 'string' },
    'monitor-seconds': { type: 'string' },
    out: { type: 'string' },
    key: { type: 'string' },
    machine: { type: 'string' },
    counter: { type: 'string' },
  },
});

switch (positionals[0] ?? '') {
  case 'secrets:init':
    await initSecrets(Env.shape.SECRETS_DIR.parse(process.env['SECRETS_DIR']));
    console.log('The secrets are in place. Keep a copy apart from the database.');
    break;
  case 'secrets:rotate':
    report(await rotateMasterKey(...places()));
    console.log('Values are sealed by the new key. Back up SECRETS_DIR; take the older keys out by secrets:retire.');
    break;
  case 'secrets:retire':
    report(await retireMasterKeys(...places()));
    break;
  case 'account:create-admin':
    if (values.email === undefined) {
      console.error(`--email is missing\n${usage}`);
      process.exitCode = 2;
    } else await createAdmin(Email.parse(values.email), AccountName.parse(values.name ?? 'Administrator'));
    break;
  case 'license:set':
    await setLicense();
    break;
  case 'license:key':
    await createLicenseKey(z.string().min(1).parse(values.out));
    break;
  case 'license:sign':
    // Without a line break, since a file has exactly one spelling.
    process.stdout.write(await signedLicense(z.string().min(1).parse(values.key)));
    break;
  case 'logs:copy':
    await copyLogs();
    break;
  case 'audit:verify':
    await verify();
    break;
  default:
    console.error(usage);
    process.exitCode = 2;
}

/** Copies requests from PostgreSQL to ClickHouse (docs/scaling.md). */
async function copyLogs() {
  const { DATABASE_URL, CLICKHOUSE_URL, CLICKHOUSE_CLUSTER: cluster, ACCESS_LOG_DAYS: days } = readEnv();
  if (CLICKHOUSE_URL === undefined) {
    console.error('CLICKHOUSE_URL is missing');
    process.exitCode = 2;
    return;
  }
  const { db, pool } = openDatabase(DATABASE_URL, 2);
  const clickHouse = new ClickHouse(CLICKHOUSE_URL, { cluster, days });
  const total = { rows: 0, bytes: 0 };
  try {
    for await (const { at, rows, bytes, isNew } of copyRequests(pool, clickHouse)) {
      total.rows += rows;
      total.bytes += bytes;
      console.log(`${at.toISOString()}  ${rows} requests, ${bytes} bytes sent  ${isNew ? 'copied' : 'was there'}`);
    }
    console.log(`All hours are equal: ${total.rows} requests, ${total.bytes} bytes sent.`);
  } finally {
    await clickHouse.close();
    await db.$disconnect();
  }
}

/** Prints the first invalid row of each chain. A chain with an error does not stop the check of the others. */
async function verify() {
  const { db, pool } = openDatabase(readEnv().DATABASE_URL, 2);
  try {
    for await (const { chain, rows, hash, fault } of verifyAudit(pool)) {
      if (fault) process.exitCode = 1;
      console.log(
        fault
          ? `${chain}  BROKEN at row ${fault.seq}${fault.reqID === null ? '' : ` (${fault.reqID})`}: ${fault.what}`
          : `${chain}  ${rows} rows, head ${hash}`,
      );
    }
  } finally {
    await db.$disconnect();
    await pool.end();
  }
}

function places(): [databaseUrl: string, secretsDir: string] {
  const { DATABASE_URL, SECRETS_DIR } = readEnv();
  return [DATABASE_URL, SECRETS_DIR];
}

function report({ keyID, rewrapped, lost, olderKeys }: Rotation) {
  console.log(`Master key ${keyID}: ${rewrapped} values rewrapped, ${olderKeys} older keys in the file.`);
  for (const { column, count } of lost) console.error(`${column}: ${count} values that no key opens; all keys stay.`);
  if (lost.length > 0) process.exitCode = 1;
}

/** Omitted limits are unlimited; layer 4 is disabled unless given. */
function termsFromOptions() {
  const Limit = z.coerce.number().int().min(0).default(0);
  return {
    siteLimit: Limit.parse(values.sites),
    nodeLimit: Limit.parse(values.nodes),
    zoneLimit: Limit.parse(values.zones),
    domainLimit: Limit.parse(values.domains),
    autoCertificateLimit: Limit.parse(values['auto-certificates']),
    monitorSeconds: Limit.parse(values['monitor-seconds']),
    layer4: values.layer4 ?? false,
    endsAt: values.ends === undefined ? null : z.coerce.date().parse(values.ends),
  };
}

/** Never overwrites a key, and writes no half of a pair. */
async function createLicenseKey(folder: string) {
  const pair = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const [privateFile, publicFile] = [path.join(folder, 'license-key.pem'), path.join(folder, 'license-key.pub.pem')];
  await mkdir(folder, { recursive: true });
  for (const file of [privateFile, publicFile]) if (existsSync(file)) throw new Error(`${file} exists`);
  await writeFile(privateFile, pair.privateKey, { mode: 0o600, flag: 'wx' });
  await writeFile(publicFile, pair.publicKey, { mode: 0o644, flag: 'wx' });
  console.log(`${privateFile}: signs licenses; keep it secret\n${publicFile}: LICENSE_KEYS of installations`);
}

/** A license file for one machine, without a database. */
async function signedLicense(keyFile: string): Promise<string> {
  const { endsAt, ...limits } = termsFromOptions();
  const now = new Date();
  if (endsAt !== null && endsAt <= now) throw new Error('--ends is in the past');
  const terms = SignedTerms.parse({
    ...limits,
    format: 'edgeloom-license/1',
    id: randomUUID(),
    name: values.name,
    machineCode: values.machine,
    counter: z.coerce.number().default(now.getTime()).parse(values.counter),
    issuedAt: now.toISOString(),
    notBefore: now.toISOString(),
    notAfter: endsAt?.toISOString() ?? null,
  });
  return signLicense(terms, await readSigningKey(keyFile));
}

/** Sets all limits of an operator's license. */
async function setLicense() {
  const clientId = Id.parse(values.client);
  const terms = termsFromOptions();
  const { db } = openDatabase(readEnv().DATABASE_URL, 2);
  try {
    await db.license.upsert({ where: { clientId }, create: { clientId, ...terms }, update: terms });
    console.log(`The license of ${clientId} is set.`);
  } finally {
    await db.$disconnect();
  }
}

/** Generates the password and prints it once, so that no default exists and none appears in the shell's history. */
async function createAdmin(email: string, name: string) {
  const { db } = openDatabase(readEnv().DATABASE_URL, 2);
  const password = randomBytes(18).toString('base64url');
  try {
    await db.account.create({
      data: { kind: 'admin', isRoot: true, email, name, passwordHash: await hashPassword(password) },
    });
    console.log(`Administrator ${email}\nPassword      ${password}`);
  } catch (error) {
    if (conflictIn(error) === null) throw error;
    console.error(`There is an administrator ${email} already.`);
    process.exitCode = 1;
  } finally {
    await db.$disconnect();
  }
}
