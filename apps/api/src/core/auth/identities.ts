// The account behind a session or an API token, cached until the database reports a change (NOTIFY identity, sent by
// triggers): calls need no query, and a suspension or sign-out takes effect at once. While the connection for
// notifications is down, nothing is cached and every call reads the database.
import { BlockList, isIP, isIPv6 } from 'node:net';
import pg from 'pg';
import type { FastifyBaseLogger } from 'fastify';
import { permissionsOf } from '@edgeloom/contract/permissions.ts';
import { NOBODY, type Actor } from '../actor.ts';
import { fail } from '../fail.ts';
import { sha256 } from './tokens.ts';

const MAX_CACHED = 50_000;
const CACHED_FOR_MS = 30_000;
const USE_WRITTEN_EVERY_MS = 60_000;

interface Row {
  id: string;
  kind: Actor['kind'];
  client_id: string | null;
  is_root: boolean;
  root_id: string;
  /** Null unless the account is a customer's. */
  operator_id: string | null;
  role_permissions: string[] | null;
  email: string;
  name: string;
  /** True if the account, its root account, its operator and those of the switching account are all enabled. */
  enabled: boolean;
  ends: Date | null;
  proxy_id: string | null;
  proxy_root_id: string | null;
  proxy_is_root: boolean | null;
  proxy_permissions: string[] | null;
  proxy_kind: Actor['kind'] | null;
  proxy_email: string | null;
  proxy_name: string | null;
  /** Null for an API token that is used directly. */
  session_id: string | null;
  session_ends: Date | null;
  revoked_at: Date | null;
  token_id: string | null;
  token_permissions: string[] | null;
  cidrs: string[] | null;
}
interface Identity {
  row: Row;
  actor: Actor;
  /** The addresses that may use an API token; null means any. */
  addresses: BlockList | null;
  readAt: number;
  useWrittenAt: number;
}

export interface Identities {
  /** The account of a live session; fails for any other. */
  find: (sessionId: string, address: string) => Promise<Actor>;
  /** The same for an API token, whose signature the caller has checked. */
  findByToken: (token: string, address: string) => Promise<Actor>;
  close: () => Promise<void>;
}

// Sessions and API tokens differ only in the first table.
const sources = {
  session: `SELECT id AS session_id, account_id, ends_at, revoked_at, proxy_id, api_token_id FROM sessions WHERE id = $1`,
  token: `SELECT NULL::uuid AS session_id, account_id, expires_at AS ends_at, NULL::timestamptz AS revoked_at,
            NULL::uuid AS proxy_id, id AS api_token_id FROM api_tokens WHERE token_hash = $1`,
};
const query = (source: keyof typeof sources) => `WITH s AS (${sources[source]})
  SELECT a.id, a.kind, a.client_id, a.is_root, st.root_id, r.permissions AS role_permissions, a.email, a.name,
    st.operator_id, st.enabled AND coalesce(ps.enabled, true) AS enabled, least(st.ends_at, ps.ends_at) AS ends,
    s.session_id, s.ends_at AS session_ends, s.revoked_at,
    p.id AS proxy_id, ps.root_id AS proxy_root_id, p.is_root AS proxy_is_root, pr.permissions AS proxy_permissions,
    p.kind AS proxy_kind, p.email AS proxy_email, p.name AS proxy_name,
    t.id AS token_id, t.permissions AS token_permissions, t.cidrs
  FROM s
    JOIN accounts a ON a.id = s.account_id
    JOIN account_standings st ON st.id = a.id
    LEFT JOIN roles r ON r.id = a.role_id
    LEFT JOIN accounts p ON p.id = s.proxy_id
    LEFT JOIN account_standings ps ON ps.id = s.proxy_id
    LEFT JOIN roles pr ON pr.id = p.role_id
    LEFT JOIN api_tokens t ON t.id = s.api_token_id`;

export async function openIdentities(pool: pg.Pool, databaseUrl: string, log: FastifyBaseLogger): Promise<Identities> {
  const cache = new Map<string, Identity>();
  /** Increased by each notification: a row that was read before one and arrives after it is not cached. */
  let notices = 0;
  let listener: pg.Client | null = null;
  let retry: NodeJS.Timeout | undefined;
  let isClosed = false;

  const forget = (id: string) => {
    notices += 1;
    for (const [key, { row }] of cache) if (namedBy(row).includes(id)) cache.delete(key);
  };

  async function listen() {
    const client = new pg.Client({ connectionString: databaseUrl, application_name: 'edgeloom-identity' });
    client.on('notification', ({ payload = '' }) => forget(payload));
    client.on('error', () => undefined);
    client.on('end', () => {
      listener = null;
      notices += 1;
      cache.clear();
      if (!isClosed) again();
    });
    await client.connect();
    // Closed while it was connecting.
    if (isClosed) return client.end();
    await client.query('LISTEN identity');
    listener = client;
  }
  const again = () => {
    clearTimeout(retry);
    retry = setTimeout(() => {
      listen().catch((error: unknown) => {
        log.warn({ err: error }, 'cannot listen for identity changes; every call asks the database');
        again();
      });
    }, 1000).unref();
  };

  /** `key` is the session's id or the token's hash; their forms cannot be confused. */
  async function read(source: keyof typeof sources, key: string): Promise<Identity | null> {
    const before = notices;
    const { rows } = await pool.query<Row>({ name: `identity ${source}`, text: query(source), values: [key] });
    const [row] = rows;
    if (!row) return null;
    const addresses = row.cidrs && row.cidrs.length > 0 ? addressesIn(row.cidrs) : null;
    const identity = { row, actor: actorOf(row), addresses, readAt: Date.now(), useWrittenAt: 0 };
    if (listener && before === notices) {
      if (cache.size >= MAX_CACHED) cache.clear();
      cache.set(key, identity);
    }
    return identity;
  }

  async function find(source: keyof typeof sources, key: string, address: string): Promise<Identity> {
    const known = cache.get(key);
    const isFresh = known && Date.now() - known.readAt < CACHED_FOR_MS;
    const identity = isFresh ? known : await read(source, key);
    if (!identity) fail('INVALID_TOKEN');
    const { row, addresses } = identity;
    const now = Date.now();
    // First, since a suspension ends the sessions as well.
    if (!row.enabled || (row.ends && row.ends.getTime() <= now)) fail('ACCOUNT_NOT_ENABLED');
    if (row.revoked_at || (row.session_ends && row.session_ends.getTime() <= now)) fail('INVALID_TOKEN');
    // Acting as another account requires the permission at every call.
    if (row.proxy_id !== null && !mayActAs(row)) fail('INVALID_TOKEN');
    if (addresses && !isAmong(addresses, address)) fail('PERMISSION_DENIED');
    return identity;
  }

  /** Runs after the response, at most once a minute: the console shows when a token was last used. */
  function writeUse(identity: Identity) {
    if (Date.now() - identity.useWrittenAt < USE_WRITTEN_EVERY_MS) return;
    identity.useWrittenAt = Date.now();
    pool
      .query(
        `UPDATE api_tokens SET last_used_at = now()
         WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`,
        [identity.row.token_id],
      )
      .catch((error: unknown) => log.warn({ err: error }, 'the use of an API token was not written down'));
  }

  await listen().catch((error: unknown) => {
    log.warn({ err: error }, 'cannot listen for identity changes yet');
    again();
  });

  return {
    find: async (sessionId, address) => (await find('session', sessionId, address)).actor,
    async findByToken(token, address) {
      const identity = await find('token', sha256(token), address);
      writeUse(identity);
      return identity.actor;
    },
    async close() {
      isClosed = true;
      clearTimeout(retry);
      await listener?.end();
    },
  };
}

/** A change of any of these changes the permissions. */
const namedBy = (row: Row) => [
  row.id,
  row.root_id,
  row.operator_id,
  row.proxy_id,
  row.proxy_root_id,
  row.session_id,
  row.token_id,
];

/** An invalid address matches nothing. */
const isAmong = (addresses: BlockList, address: string) =>
  isIP(address) !== 0 && addresses.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');

const addressesIn = (cidrs: readonly string[]) => {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [address = '', bits] = cidr.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    list.addSubnet(address, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family);
  }
  return list;
};

const mayActAs = ({ proxy_is_root, proxy_permissions }: Row) =>
  proxy_is_root === true || (proxy_permissions ?? []).includes('account:write');

/** An API token restricts its account's permissions; a sub-account that acts as another keeps its own limits. */
function permissionsIn(row: Row): Actor['permissions'] {
  const limits = [
    row.is_root ? null : (row.role_permissions ?? []),
    row.token_id === null ? null : (row.token_permissions ?? []),
    row.proxy_id === null || row.proxy_is_root ? null : (row.proxy_permissions ?? []),
  ];
  return new Set(permissionsOf(row.kind).filter((one) => limits.every((limit) => limit?.includes(one) ?? true)));
}

const actorOf = (row: Row): Actor => ({
  id: row.id,
  kind: row.kind,
  clientId: row.client_id ?? NOBODY,
  isRoot: row.is_root,
  rootId: row.root_id,
  permissions: permissionsIn(row),
  email: row.email,
  name: row.name,
  sessionId: row.session_id ?? NOBODY,
  apiTokenId: row.token_id,
  proxy:
    row.proxy_id === null || row.proxy_kind === null
      ? null
      : { id: row.proxy_id, kind: row.proxy_kind, email: row.proxy_email ?? '', name: row.proxy_name ?? '' },
});
