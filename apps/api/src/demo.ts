// Creates the demo data: one account of each kind, a zone with a node, a product, and a site. Its name responds over
// HTTP and HTTPS. A repeated run keeps what people changed and only updates changed addresses.
import { randomUUIDv7 } from 'node:crypto';
import { BasicConstraintsExtension, SubjectAlternativeNameExtension, X509CertificateGenerator } from '@peculiar/x509';
import { hostKey, certKey, nodeKey, portKey, siteKey } from '@edgeloom/contract/edge/documents.ts';
import { changed } from './core/changes.ts';
import { openDatabase } from './core/db.ts';
import { locks } from './core/locks.ts';
import { contexts, newZoneKey, openSecrets, type Secrets } from './core/secrets.ts';
import type { Prisma } from './generated/client.ts';
import { hashPassword } from './core/auth/passwords.ts';
import { createDefaults } from './modules/sites/defaults.ts';
import { tokenHash } from './node-link/join.ts';

const DOMAIN = 'demo.edgeloom.test';
const emails = {
  admin: 'admin@edgeloom.test',
  client: 'operator@edgeloom.test',
  user: 'customer@edgeloom.test',
} as const;
const names = { zone: 'Demo zone', node: 'Demo node', product: 'Demo product', site: 'Demo site' } as const;
const DAY_MS = 86_400_000;

interface Addresses {
  /** `forward`: a layer-4 forward of the site. */
  edge: { host: string; http: number; https: number; forward?: number | undefined };
  origin: { host: string; port: number };
}
export interface DemoOptions extends Addresses {
  secretsDir: string;
  passwords: Record<keyof typeof emails, string>;
  joinToken: string;
  /** Addresses of the previous run, if they may have changed. Rows that still contain them are updated. */
  previous?: Addresses;
}
export interface Demo {
  accounts: Record<keyof typeof emails, { email: string }>;
  zoneID: string;
  nodeID: string;
  productID: string;
  siteID: string;
  domainID: string;
  domain: string;
}

export async function seedDemo(databaseUrl: string, options: DemoOptions): Promise<Demo> {
  const secrets = await openSecrets(options.secretsDir);
  const { db } = openDatabase(databaseUrl, 2);
  try {
    return await db.$transaction(
      async (tx) => {
        // Concurrent processes wait for each other.
        await tx.$executeRaw`SELECT pg_advisory_xact_lock(${locks.demo})`;
        const ids = (await find(tx)) ?? (await make(tx, options, secrets));
        await follow(tx, ids, options);
        await followForward(tx, ids, options);
        await renewJoin(tx, ids.nodeID, options.joinToken);
        const { admin, client, user } = emails;
        return {
          accounts: { admin: { email: admin }, client: { email: client }, user: { email: user } },
          ...ids,
          domain: DOMAIN,
        };
      },
      { timeout: 30_000 },
    );
  } finally {
    await db.$disconnect();
  }
}

type Tx = Prisma.TransactionClient;
type Made = Omit<Demo, 'accounts' | 'domain'>;

/** Finds the existing demo objects. An object that people removed has an empty id. */
async function find(tx: Tx): Promise<Made | null> {
  const account = await tx.account.findUnique({ where: { kind_email: { kind: 'client', email: emails.client } } });
  if (!account?.clientId) return null;
  const { clientId } = account;
  const [zone, node, product, site, domain] = [
    await tx.zone.findFirst({ where: { clientId, name: names.zone } }),
    await tx.edgeNode.findFirst({ where: { zone: { clientId }, name: names.node } }),
    await tx.product.findFirst({ where: { clientId, name: names.product } }),
    await tx.site.findFirst({ where: { clientId, name: names.site } }),
    await tx.domain.findFirst({ where: { site: { clientId }, name: DOMAIN } }),
  ];
  const idOf = (row: { id: string } | null) => row?.id ?? '';
  return {
    zoneID: idOf(zone),
    nodeID: idOf(node),
    productID: idOf(product),
    siteID: idOf(site),
    domainID: idOf(domain),
  };
}

async function make(tx: Tx, { edge, origin, passwords }: DemoOptions, secrets: Secrets): Promise<Made> {
  const { id: clientId } = await tx.client.create({ data: { name: 'Demo operator' } });
  const account = async (kind: keyof typeof emails, name: string, parentId: string | null = null) => {
    const passwordHash = await hashPassword(passwords[kind]);
    const data = { kind, name, email: emails[kind], passwordHash, isRoot: true, login2faType: 2, language: 'en' };
    return tx.account.create({
      data: {
        ...data,
        parentId,
        clientId: kind === 'admin' ? null : clientId,
      },
    });
  };
  const admin = await account('admin', 'demo-admin');
  const operator = await account('client', 'demo-operator', admin.id);
  const user = await account('user', 'demo-customer', operator.id);

  const zoneId = randomUUIDv7();
  await tx.zone.create({ data: { id: zoneId, clientId, name: names.zone, keySealed: newZoneKey(secrets, zoneId) } });
  const listening = await tx.zonePort.createManyAndReturn({
    data: [
      { zoneId, port: edge.http, tls: false },
      { zoneId, port: edge.https, tls: true },
    ],
  });
  const node = await tx.edgeNode.create({ data: { zoneId, name: names.node, ip: edge.host } });
  const product = await tx.product.create({ data: { clientId, zoneId, name: names.product } });
  const site = await tx.site.create({
    data: { clientId, zoneId, productId: product.id, ownerId: user.id, name: names.site, tags: ['demo'] },
  });
  await tx.sitePort.createMany({ data: listening.map(({ id }) => ({ siteId: site.id, zonePortId: id })) });
  await createDefaults(tx, site.id);
  await tx.cacheRule.create({
    data: { siteId: site.id, type: 'fileType', value: ['css', 'js', 'png', 'jpg', 'svg', 'woff2'], cacheTime: 3600 },
  });
  await tx.antiHeader.create({
    data: {
      siteId: site.id,
      name: 'user-agent',
      operator: 'contains',
      value: 'BadBot',
      action: 'deny',
      priority: 100,
      enabled: true,
    },
  });
  const certificateId = randomUUIDv7();
  const { keyPem, ...pair } = await selfSigned(DOMAIN);
  const { notAfter } = pair;
  const keySealed = secrets.seal(keyPem, contexts.certificateKey(certificateId));
  await tx.certificate.create({
    data: { id: certificateId, siteId: site.id, name: DOMAIN, names: [DOMAIN], status: 'success', notAfter },
  });
  await tx.certificatePair.create({ data: { certificateId, keyType: 'ecdsa', keySealed, ...pair } });
  const domain = await tx.domain.create({
    data: { siteId: site.id, name: DOMAIN, enabled: true, certificateId, certStatus: 'success' },
  });
  await tx.upstream.create({ data: { siteId: site.id, domainId: domain.id, address: origin.host, port: origin.port } });
  if (edge.forward !== undefined) await addForward(tx, zoneId, site.id, edge.forward, origin);
  await changed(tx, zoneId, 'zone', nodeKey(node.id), siteKey(site.id), certKey(certificateId), hostKey(DOMAIN));
  return { zoneID: zoneId, nodeID: node.id, productID: product.id, siteID: site.id, domainID: domain.id };
}

/** Visitors name themselves by the PROXY protocol, so that sessions come from several countries. */
async function addForward(tx: Tx, zoneId: string, siteId: string, port: number, origin: Addresses['origin']) {
  const data = { siteId, port, protocol: 'tcp', acceptProxy: true, memo: 'Demo visitors, by the PROXY protocol' };
  const { id: portRuleId } = await tx.portRule.create({ data });
  await tx.portUpstream.create({ data: { portRuleId, address: origin.host, port: origin.port } });
  await changed(tx, zoneId, portKey(portRuleId));
}

/** Follows changed ports of the forward and its origin. */
async function followForward(tx: Tx, { zoneID, siteID }: Made, { edge, origin, previous }: DemoOptions) {
  if (siteID === '' || edge.forward === undefined || previous === undefined) return;
  const old = await tx.portRule.findFirst({
    where: { siteId: siteID, port: previous.edge.forward ?? 0, protocol: 'tcp' },
  });
  if (old === null) return;
  await tx.portRule.update({ where: { id: old.id }, data: { port: edge.forward } });
  await tx.portUpstream.updateMany({
    where: { portRuleId: old.id, address: previous.origin.host, port: previous.origin.port },
    data: { address: origin.host, port: origin.port },
  });
  await changed(tx, zoneID, portKey(old.id));
}

async function follow(tx: Tx, { zoneID: zoneId, domainID: domainId }: Made, { edge, origin, previous }: DemoOptions) {
  if (!previous) return;
  const move = (from: number, to: number, tls: boolean) =>
    from === to ? { count: 0 } : tx.zonePort.updateMany({ where: { zoneId, port: from, tls }, data: { port: to } });
  if (zoneId === '') return;
  const moved =
    (await move(previous.edge.http, edge.http, false)).count +
    (await move(previous.edge.https, edge.https, true)).count;
  const listening = moved > 0 ? await tx.site.findMany({ where: { zoneId }, select: { id: true } }) : [];
  if (moved > 0) await changed(tx, zoneId, 'zone', ...listening.map(({ id }) => siteKey(id)));
  if (domainId === '' || (previous.origin.host === origin.host && previous.origin.port === origin.port)) return;
  const { count } = await tx.upstream.updateMany({
    where: { domainId, address: previous.origin.host, port: previous.origin.port },
    data: { address: origin.host, port: origin.port },
  });
  if (count > 0) await changed(tx, zoneId, hostKey(DOMAIN));
}

/** Renews the token until the node has joined. A joined node's token is used up. */
async function renewJoin(tx: Tx, id: string, joinToken: string) {
  if (id === '') return;
  await tx.edgeNode.updateMany({
    where: { id, publicKey: null },
    data: { joinHash: tokenHash(joinToken), joinEndsAt: new Date(Date.now() + DAY_MS) },
  });
}

async function selfSigned(name: string) {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const notBefore = new Date(Date.now() - DAY_MS);
  const notAfter = new Date(Date.now() + 825 * DAY_MS);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: `CN=${name}`,
    notBefore,
    notAfter,
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new BasicConstraintsExtension(false),
      new SubjectAlternativeNameExtension([{ type: 'dns', value: name }]),
    ],
  });
  const der = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  const keyPem = `-----BEGIN PRIVATE KEY-----\n${der.replace(/.{64}(?=.)/g, '$&\n')}\n-----END PRIVATE KEY-----\n`;
  const fingerprint = Buffer.from(await certificate.getThumbprint('SHA-256')).toString('hex');
  return { chainPem: `${certificate.toString('pem')}\n`, keyPem, fingerprint, issuer: name, notBefore, notAfter };
}
