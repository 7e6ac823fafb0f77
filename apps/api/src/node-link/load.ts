// Compiles documents from their keys: reads the rows of any number of documents with one query per kind. An error
// affects its own document only.
import { parseDoc } from '@edgeloom/contract/edge/documents.ts';
import type { EdgeDoc, SiteDoc } from '@edgeloom/contract/edge/documents.ts';
import { KeyID } from '@edgeloom/contract/edge/sealed.ts';
import type { SiteRule } from '@edgeloom/contract/site-rules.ts';
import type { ZoneContent } from '@edgeloom/contract/zone-settings/zone-settings.ts';
import type { ClientBase } from 'pg';
import { acmeDoc } from '../compile/acme.ts';
import type { AcmeRow } from '../compile/acme.ts';
import { certDoc } from '../compile/cert.ts';
import type { CertRow } from '../compile/cert.ts';
import { defaultErrorPagesDoc, type ErrorPageRow } from '../compile/error-pages.ts';
import { listDoc, zoneListsDoc, type ListRefRow, type ListRow } from '../compile/firewall.ts';
import { hostDoc, offDoc } from '../compile/host.ts';
import type { HostRow } from '../compile/host.ts';
import { moduleDoc } from '../compile/module.ts';
import type { ModuleRow } from '../compile/module.ts';
import { nodeDoc } from '../compile/node.ts';
import type { NodeRow } from '../compile/node.ts';
import { portDoc } from '../compile/port.ts';
import type { PortRow } from '../compile/port.ts';
import type { ZoneKey } from '../compile/seal.ts';
import { siteDoc } from '../compile/site.ts';
import type { SiteRow } from '../compile/site.ts';
import { trialDoc, zoneDoc } from '../compile/zone.ts';
import type { OriginPolicy, ZoneRow } from '../compile/zone.ts';
import { MAX_DOCUMENT_BYTES } from '../core/document-weight.ts';
import { contexts } from '../core/secrets.ts';
import type { Secrets } from '../core/secrets.ts';
import { servedStatus } from '../core/served-status.ts';
import type { GeoPack } from '../geoip/geo-pack.ts';
import { needsGeo } from '../geoip/needs-geo.ts';
import { siteRules } from '../site-rules.ts';

export interface Compiler {
  secrets: Pick<Secrets, 'open'>;
  policy: OriginPolicy;
  /** Absent where no documents are sent, such as in drafts. */
  geoPack?: () => Promise<GeoPack>;
}

export class DocumentTooLargeError extends Error {}

/** The body, null for no document, or the error. */
export type Compiled = { key: string; body: string | null } | { key: string; fault: unknown };

/** Rows by document name (the key without its kind). Compiling is lazy, since it may fail. */
type DocumentMakers = Map<string, () => EdgeDoc | null>;
type Loader = (db: ClientBase, compiler: Compiler, zoneId: string, names: string[]) => Promise<DocumentMakers>;

export async function compileKeys(
  db: ClientBase,
  compiler: Compiler,
  zoneId: string,
  keys: readonly string[],
): Promise<Compiled[]> {
  // A trial document describes the whole zone, so it changes with the zone.
  const all = keys.includes('zone') && !keys.includes('trial') ? [...keys, 'trial'] : keys;
  const byKind = Map.groupBy(all, (key) => key.split('/', 1)[0] ?? '');
  const compiled: Compiled[] = [];
  for (const [kind, load] of loaders) {
    const asked = byKind.get(kind);
    if (!asked) continue;
    const made = await load(db, compiler, zoneId, asked.map(nameOf));
    for (const key of asked) compiled.push(compileOne(key, made.get(nameOf(key))));
  }
  return compiled;
}

const nameOf = (key: string) => key.slice(key.indexOf('/') + 1);

function compileOne(key: string, make: (() => EdgeDoc | null) | undefined): Compiled {
  try {
    const doc = make?.() ?? null;
    if (doc === null) return { key, body: null };
    const body = JSON.stringify(doc);
    if (Buffer.byteLength(body) > MAX_DOCUMENT_BYTES) throw new DocumentTooLargeError('the document exceeds 3 MB');
    // Validates like the node, so that no document is rejected there.
    parseDoc(key, body);
    return { key, body };
  } catch (fault) {
    return { key, fault };
  }
}

/** During a rollout the rows contain the new state, and the live version the old one. */
async function readZone(db: ClientBase, zoneId: string): Promise<ZoneRow[]> {
  const { rows } = await db.query<Omit<ZoneRow, 'live'> & { live: ZoneContent | null }>(
    `SELECT z.id, z.force_ssl_redirect_code AS "forceSSLRedirectCode", z.settings, coalesce(
       (SELECT json_agg(json_build_object('port', p.port, 'tls', p.tls)) FROM zone_ports p WHERE p.zone_id = z.id), '[]'
     ) AS ports, coalesce(
       (SELECT json_agg(json_build_object('id', n.id, 'address', n.ip, 'port', n.relay_port)) FROM nodes n
        WHERE n.zone_id = z.id AND n.kind = 'relay' AND n.enabled AND n.joined_at IS NOT NULL), '[]'
     ) AS relays,
     coalesce((SELECT y.restrict_group_cidrs FROM system_settings y WHERE y.client_id = z.client_id), '{}') AS "restrictedNetworks",
     ARRAY(SELECT s.name FROM zone_switches s WHERE s.zone_id = z.id AND (s.until IS NULL OR s.until > now())) AS off,
     CASE WHEN t.id IS NOT NULL THEN
       (SELECT v.content FROM zone_versions v WHERE v.zone_id = z.id AND v.state = 'live') END AS live,
     CASE WHEN t.id IS NOT NULL THEN json_build_object('version', t.version, 'nodes', t.nodes) END AS trial
     FROM zones z LEFT JOIN zone_versions t ON t.zone_id = z.id AND t.state = 'trial' WHERE z.id = $1`,
    [zoneId],
  );
  return rows.map(({ live, ...row }) => ({ ...row, live: live && { ...live, settings: live } }));
}

const zone: Loader = async (db, { policy }, zoneId) =>
  new Map((await readZone(db, zoneId)).map((row) => ['zone', () => zoneDoc(row, policy)]));

const trial: Loader = async (db, { policy }, zoneId) =>
  new Map((await readZone(db, zoneId)).map((row) => ['trial', () => trialDoc(row, policy)]));

const errorPages: Loader = async (db, _, zoneId) => {
  const { rows } = await db.query<ErrorPageRow>(
    `SELECT p.code, p.type, p.value, p.edge_only AS "edgeOnly" FROM default_error_pages p
     JOIN zones z ON z.client_id = p.client_id WHERE z.id = $1 AND p.enabled ORDER BY p.code`,
    [zoneId],
  );
  return new Map([['errorPages', () => defaultErrorPagesDoc(rows)]]);
};

const zoneKeyColumns = 'z.key_name AS "zoneKeyName", z.key_sealed AS "zoneKeySealed"';
interface StoredZoneKey {
  zoneKeyName: string;
  zoneKeySealed: string;
}
const openZoneKey = (secrets: Compiler['secrets'], zoneId: string, stored: StoredZoneKey): ZoneKey => ({
  id: KeyID.parse(stored.zoneKeyName),
  key: Buffer.from(secrets.open(stored.zoneKeySealed, contexts.zoneKey(zoneId)), 'base64'),
});

const cert: Loader = async (db, { secrets }, zoneId, ids) => {
  const { rows } = await db.query<Omit<CertRow, 'pairs'> & { pairs: SealedPair[] } & StoredZoneKey>(
    `SELECT c.id, c.names, c.not_after AS "notAfter", ${zoneKeyColumns},
       (SELECT json_agg(json_build_object('keyType', p.key_type, 'chainPem', p.chain_pem, 'keySealed', p.key_sealed))
        FROM certificate_pairs p WHERE p.certificate_id = c.id) AS pairs
     FROM certificates c JOIN sites s ON s.id = c.site_id JOIN zones z ON z.id = s.zone_id
     WHERE c.id = ANY($2::uuid[]) AND s.zone_id = $1 AND EXISTS (SELECT FROM certificate_pairs p WHERE p.certificate_id = c.id)`,
    [zoneId, ids],
  );
  return new Map(
    rows.map(({ pairs, zoneKeyName, zoneKeySealed, ...row }) => [
      row.id,
      () => {
        const zoneKey = openZoneKey(secrets, zoneId, { zoneKeyName, zoneKeySealed });
        const opened = pairs.map(({ keySealed, ...pair }) => ({
          ...pair,
          keyPem: secrets.open(keySealed, contexts.certificateKey(row.id)),
        }));
        return certDoc({ ...row, pairs: opened }, zoneKey);
      },
    ]),
  );
};
interface SealedPair {
  keyType: string;
  chainPem: string;
  keySealed: string;
}

const acme: Loader = async (db, _, zoneId, tokens) => {
  const { rows } = await db.query<AcmeRow>(
    `SELECT token, name, site_id AS "siteId", key_authorization AS "keyAuthorization" FROM acme_challenges
     WHERE token = ANY($2) AND zone_id = $1 AND type = 'http-01'`,
    [zoneId, tokens],
  );
  return new Map(rows.map((row) => [row.token, () => acmeDoc(row)]));
};

/** One column: the enabled rules of site `s` by list. */
const siteRuleRows = `json_build_object(${siteRules
  .map(({ name, rows }) => `'${name}', (SELECT coalesce(json_agg(r), '[]') FROM (${rows.texts.join('')}) r)`)
  .join(', ')}) AS rules`;
type SiteRuleRows = Readonly<Record<SiteRule, unknown[]>>;

function siteRuleDocs(rows: SiteRuleRows): Partial<SiteDoc> {
  const docs: Partial<SiteDoc> = {};
  for (const { name, document } of siteRules)
    if (rows[name].length > 0) Object.assign(docs, document ? document(rows[name]) : { [name]: rows[name] });
  return docs;
}

const site: Loader = async (db, _, zoneId, ids) => {
  const { rows } = await db.query<Omit<SiteRow, 'rules'> & { rules: SiteRuleRows }>(
    `SELECT s.id, ${servedStatus} AS status, s.cache_version AS "cacheVersion",
       s.mask_log_address AS "maskLogAddress", s.mask_log_query AS "maskLogQuery",
       coalesce(s.max_connections, p.max_connections) AS "maxConnections",
       coalesce(s.response_mbps, p.response_mbps) AS "responseMbps", ARRAY(
       SELECT q.port FROM site_ports o JOIN zone_ports q ON q.id = o.zone_port_id WHERE o.site_id = s.id
       -- Ports that a change takes away: nodes that do not try it listen there still.
       UNION SELECT (k->>'port')::int FROM zone_versions v, jsonb_array_elements(v.retained_ports) k
       WHERE v.zone_id = s.zone_id AND v.state = 'trial' AND k->>'siteID' = s.id::text
     ) AS ports,
       (SELECT json_build_object('heuristics', c.heuristics, 'staleIfError', c.stale_if_error, 'shield', c.shield,
          'checkContentType', c.check_content_type, 'passHeaders', c.pass_headers, 'setCookie', c.set_cookie,
          'honourVisitors', c.honour_visitors, 'storePost', c.store_post)
        FROM cache_settings c WHERE c.site_id = s.id) AS "cacheSetting",
       (SELECT json_build_object('gzip', c.gzip, 'brotli', c.brotli, 'types', c.types, 'minBytes', c.min_bytes,
          'webp', c.webp, 'webpQuality', c.webp_quality, 'webpTypes', c.webp_types,
          'webpMinBytes', c.webp_min_bytes, 'webpMaxBytes', c.webp_max_bytes)
        FROM compressions c WHERE c.site_id = s.id) AS compression,
       ${siteRuleRows}
     FROM sites s JOIN products p ON p.id = s.product_id WHERE s.id = ANY($2::uuid[]) AND s.zone_id = $1`,
    [zoneId, ids],
  );
  return new Map(rows.map((row) => [row.id, () => siteDoc({ ...row, rules: siteRuleDocs(row.rules) })]));
};

const module: Loader = async (db, { secrets }, zoneId, ids) => {
  const { rows } = await db.query<ModuleRow & StoredZoneKey & { keys: SealedKey[] | null }>(
    `SELECT m.id, m.kind, m.settings, ${zoneKeyColumns},
       (SELECT json_agg(json_build_object('id', k.id, 'keySealed', k.key_sealed)) FROM token_keys k
        WHERE m.kind = 'tokenAuth' AND k.site_id = m.site_id AND k.id IN (
          SELECT (key->>'id')::uuid FROM jsonb_array_elements(m.settings->'auths') auth, jsonb_array_elements(auth->'keys') key)
       ) AS keys,
       (SELECT json_agg(json_build_object('id', r.id, 'type', r.type, 'source', r.source, 'target', r.target, 'code', r.code,
          'keepQuery', r.keep_query, 'keepRest', r.keep_rest, 'priority', r.priority))
        FROM redirects r WHERE r.module_id = m.id AND r.enabled) AS redirects
     FROM modules m JOIN sites s ON s.id = m.site_id JOIN zones z ON z.id = s.zone_id
     WHERE m.id = ANY($2::uuid[]) AND s.zone_id = $1`,
    [zoneId, ids],
  );
  return new Map(
    rows.map(({ zoneKeyName, zoneKeySealed, keys, ...row }) => [
      row.id,
      () =>
        moduleDoc(row, () => ({
          zoneKey: openZoneKey(secrets, zoneId, { zoneKeyName, zoneKeySealed }),
          open: (id) => secrets.open(keys?.find((key) => key.id === id)?.keySealed ?? '', contexts.tokenKey(id)),
        })),
    ]),
  );
};
interface SealedKey {
  id: string;
  keySealed: string;
}

/** Sites in service only. */
const port: Loader = async (db, _, zoneId, ids) => {
  const { rows } = await db.query<PortRow>(
    `SELECT r.id, r.site_id AS "siteId", s.mask_log_address AS "maskLogAddress", r.port, r.protocol, r.accept_proxy AS "acceptProxy", r.send_proxy AS "sendProxy",
       r.method, r.max_fails AS "maxFails", r.fail_timeout_seconds AS "failTimeoutSeconds",
       r.connect_timeout_seconds AS "connectTimeoutSeconds", r.idle_timeout_seconds AS "idleTimeoutSeconds", coalesce(
       (SELECT json_agg(json_build_object('id', u.id, 'address', u.address, 'port', u.port, 'weight', u.weight,
          'backup', u.backup, 'enabled', u.enabled))
        FROM port_upstreams u WHERE u.port_rule_id = r.id), '[]'
     ) AS upstreams,
     ARRAY(SELECT unnest(l.value) FROM layer4_lists l WHERE l.site_id = s.id AND l.enabled AND NOT l.is_black ORDER BY l.id) AS allow,
     ARRAY(SELECT unnest(l.value) FROM layer4_lists l WHERE l.site_id = s.id AND l.enabled AND l.is_black ORDER BY l.id) AS deny,
     coalesce(q.black_pos < q.white_pos, false) AS "denyFirst", c.max + c.burst AS "maxConns"
     FROM port_rules r JOIN sites s ON s.id = r.site_id LEFT JOIN layer4_positions q ON q.site_id = s.id AND q.port = r.port
     LEFT JOIN layer4_limit_conns c ON c.site_id = s.id AND c.port = r.port AND c.enabled
     WHERE r.id = ANY($2::uuid[]) AND s.zone_id = $1 AND r.enabled AND ${servedStatus} = 'normal'`,
    [zoneId, ids],
  );
  return new Map(rows.map((row) => [row.id, () => portDoc(row)]));
};

const node: Loader = async (db, _, zoneId, ids) => {
  const { rows } = await db.query<NodeRow>(
    `SELECT id, enabled, cache_max_bytes AS "cacheMaxBytes", cache_dir AS "cacheDir", kind, relay_port AS "relayPort", drain_ends_at AS "drainEndsAt", port_type AS "portType",
       log_rotate_seconds AS "logRotateSeconds", geneva_packet_size AS "packetSize", geneva_window_size AS "windowSize"
     FROM nodes WHERE id = ANY($2::uuid[]) AND zone_id = $1`,
    [zoneId, ids],
  );
  return new Map(rows.map((row) => [row.id, () => nodeDoc(row)]));
};

/**
 * A name belongs to its one enabled domain, if that is on a site of this zone. A disabled name has a document too where
 * another customer's wildcard would serve it.
 */
const host: Loader = async (db, _, zoneId, names) => {
  const { rows } = await db.query<HostRow>(
    `SELECT d.enabled_name AS name, d.id AS "domainId", d.site_id AS "siteId", d.cache_version AS "cacheVersion",
       d.certificate_id AS "certificateId", d.scheme, d.port_map AS "portMap", d.hash_type AS "hashType",
       d.host_replace AS "hostReplace", d.sni, d.origin_verify AS "originVerify", d.origin_certificate_id AS "originCertificateId",
       d.slow_start_seconds AS "slowStartSeconds", d.health_check AS "healthCheck",
       d.force_ssl AS "forceSsl", greatest(d.min_tls, p.min_tls) AS "minTls", d.hsts_max_age_seconds AS "hstsMaxAgeSeconds",
       d.hsts_include_subdomains AS "hstsIncludeSubdomains", d.hsts_preload AS "hstsPreload",
       d.max_fails AS "maxFails", d.fail_timeout_seconds AS "failTimeoutSeconds",
       d.connect_timeout_seconds AS "connectTimeoutSeconds", d.read_timeout_seconds AS "readTimeoutSeconds",
       d.websocket_timeout_seconds AS "websocketTimeoutSeconds", coalesce(
       (SELECT json_agg(json_build_object('id', u.id, 'address', u.address, 'port', u.port, 'weight', u.weight,
          'backup', u.backup, 'enabled', u.enabled))
        FROM upstreams u WHERE u.domain_id = d.id), '[]'
     ) AS upstreams, coalesce(
       (SELECT json_agg(json_build_object('id', r.id, 'isBlack', r.is_black, 'referers', r.referers, 'allowEmpty', r.allow_empty,
          'type', r.type, 'value', r.value, 'action', r.action, 'target', r.target) ORDER BY r.priority, r.id)
        FROM anti_referers r WHERE r.domain_id = d.id AND r.enabled), '[]'
     ) AS "antiReferers", coalesce(
       (SELECT json_agg(json_build_object('id', r.id, 'name', r.name, 'operator', r.operator, 'value', r.value,
          'action', r.action) ORDER BY r.priority, r.id)
        FROM anti_headers r WHERE r.domain_id = d.id AND r.enabled), '[]') AS "antiHeaders",
       (SELECT json_object_agg(a.kind, a.module_id) FROM domain_modules a WHERE a.domain_id = d.id) AS modules
     FROM domains d JOIN sites s ON s.id = d.site_id JOIN products p ON p.id = s.product_id
     WHERE d.enabled_name = ANY($2) AND s.zone_id = $1`,
    [zoneId, names],
  );
  const off = await db.query<{ name: string }>(
    `SELECT DISTINCT c.name FROM name_claims c JOIN name_claims w ON w.name = '*.' || c.parent AND w.enabled AND w.holder_id <> c.holder_id
     WHERE c.name = ANY($2) AND c.name NOT LIKE '*.%' AND NOT c.enabled AND w.zone_id = $1`,
    [zoneId, names],
  );
  return new Map([
    ...off.rows.map(({ name }) => [name, () => offDoc(name)] as const),
    ...rows.map((row) => [row.name, () => hostDoc(row)] as const),
  ]);
};

const list: Loader = async (db, _, zoneId, ids) => {
  const { rows } = await db.query<ListRow>(
    `SELECT l.id, l.value, l.expires FROM firewall_lists l JOIN sites s ON s.id = l.site_id
     WHERE l.id = ANY($2::uuid[]) AND s.zone_id = $1 AND l.enabled
     UNION ALL SELECT c.id, c.value, c.expires FROM list_source_chunks c
     JOIN list_sources r ON r.id = c.source_id LEFT JOIN sites s ON s.id = c.site_id
     WHERE c.id = ANY($2::uuid[]) AND coalesce(c.zone_id, s.zone_id) = $1 AND r.enabled`,
    [zoneId, ids],
  );
  return new Map(rows.map((row) => [row.id, () => listDoc(row)]));
};

const zoneLists: Loader = async (db, _, zoneId) => {
  const { rows } = await db.query<ListRefRow>(
    `SELECT c.id, r.is_black AS "isBlack", '{}'::text[] AS urls, '{}'::text[] AS methods,
       r.monitor AND r.is_black AS monitor
     FROM list_source_chunks c JOIN list_sources r ON r.id = c.source_id WHERE c.zone_id = $1 AND r.enabled
     ORDER BY r.is_black, c.id`,
    [zoneId],
  );
  return new Map([['zoneLists', () => zoneListsDoc(rows)]]);
};

/** Only in zones that need it. */
const pack: Loader = async (db, { geoPack }, zoneId) => {
  if (!geoPack) return new Map();
  const { rowCount } = await db.query(`SELECT FROM zones z WHERE z.id = $1 AND (${needsGeo})`, [zoneId]);
  if (rowCount === 0) return new Map();
  const made = await geoPack().catch((error: unknown) => ({
    fault: error instanceof Error ? error : new Error(String(error)),
  }));
  if ('fault' in made)
    return new Map([
      [
        'geo',
        () => {
          throw made.fault;
        },
      ],
    ]);
  const { version, parts } = made;
  return new Map<string, () => EdgeDoc>([
    ['geo', () => ({ kind: 'pack', id: 'geo', version, parts: parts.length })],
    ...parts.map((data, i) => [`geo.${i}`, () => ({ kind: 'pack' as const, id: `geo.${i}`, version, data })] as const),
  ]);
};

// In the order in which nodes need them: referenced documents first.
const loaders = new Map<string, Loader>([
  ['zone', zone],
  ['trial', trial],
  ['errorPages', errorPages],
  ['cert', cert],
  ['acme', acme],
  ['list', list],
  ['zoneLists', zoneLists],
  ['pack', pack],
  ['site', site],
  ['port', port],
  ['node', node],
  ['module', module],
  ['host', host],
]);
