// Who stands behind a session, looked up once and kept until the database says that it changed (NOTIFY identity, sent
// by triggers): a call costs no query, and a suspension or sign-out acts at once. While the notices cannot be heard,
// nothing is kept and every call asks.
import pg from 'pg';
import type { FastifyBaseLogger } from 'fastify';
import { permissions, type Permission } from '@edgeloom/contract/permissions.ts';
import { NOBODY, type Actor } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';

const KEPT_AT_MOST = 50_000;
const KEPT_FOR_MS = 30_000;
const allPermissions: ReadonlySet<Permission> = new Set(permissions);
const isPermission = (text: string): text is Permission => (permissions as readonly string[]).includes(text);

interface Row {
  id: string;
  kind: Actor['kind'];
  client_id: string | null;
  is_root: boolean;
  root_id: string;
  permissions: string[] | null;
  email: string;
  name: string;
  /** The account, its root account, whoever acts as it and their root account: the session needs them all. */
  enabled: boolean;
  ends: Date | null;
  proxy_id: string | null;
  proxy_root_id: string | null;
  proxy_email: string | null;
  proxy_name: string | null;
  session_ends: Date;
  revoked_at: Date | null;
}
interface Identity {
  row: Row;
  actor: Actor;
  readAt: number;
}

export interface Identities {
  /** The account behind a session that is alive; refuses any other. */
  find: (sessionId: string) => Promise<Actor>;
  close: () => Promise<void>;
}

export async function openIdentities(pool: pg.Pool, databaseUrl: string, log: FastifyBaseLogger): Promise<Identities> {
  const kept = new Map<string, Identity>();
  /** Raised by every notice: what was read before one and arrives after it is not kept. */
  let notices = 0;
  let listener: pg.Client | null = null;
  let retry: NodeJS.Timeout | undefined;
  let isClosed = false;

  const forget = (id: string) => {
    notices += 1;
    if (kept.delete(id)) return;
    for (const [session, { row }] of kept)
      if ([row.id, row.root_id, row.proxy_id, row.proxy_root_id].includes(id)) kept.delete(session);
  };

  async function listen() {
    const client = new pg.Client({ connectionString: databaseUrl, application_name: 'edgeloom-identity' });
    client.on('notification', ({ payload = '' }) => forget(payload));
    client.on('error', () => undefined);
    client.on('end', () => {
      listener = null;
      notices += 1;
      kept.clear();
      if (!isClosed) again();
    });
    await client.connect();
    // Closed while it was connecting: nobody would end it.
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

  async function read(sessionId: string): Promise<Identity | null> {
    const before = notices;
    const { rows } = await pool.query<Row>({
      name: 'identity',
      text: `SELECT a.id, a.kind, a.client_id, a.is_root, root.id AS root_id, r.permissions, a.email, a.name,
               a.status = 'normal' AND root.status = 'normal'
                 AND coalesce(p.status = 'normal' AND proxy_root.status = 'normal', true) AS enabled,
               least(a.expires_at, root.expires_at, p.expires_at, proxy_root.expires_at) AS ends,
               s.ends_at AS session_ends, s.revoked_at,
               p.id AS proxy_id, proxy_root.id AS proxy_root_id, p.email AS proxy_email, p.name AS proxy_name
             FROM sessions s
               JOIN accounts a ON a.id = s.account_id
               JOIN accounts root ON root.id = CASE WHEN a.is_root THEN a.id ELSE a.parent_id END
               LEFT JOIN roles r ON r.id = a.role_id
               LEFT JOIN accounts p ON p.id = s.proxy_id
               LEFT JOIN accounts proxy_root ON proxy_root.id = CASE WHEN p.is_root THEN p.id ELSE p.parent_id END
             WHERE s.id = $1`,
      values: [sessionId],
    });
    const [row] = rows;
    if (!row) return null;
    const identity = { row, actor: actorOf(row, sessionId), readAt: Date.now() };
    if (listener && before === notices) {
      if (kept.size >= KEPT_AT_MOST) kept.clear();
      kept.set(sessionId, identity);
    }
    return identity;
  }

  await listen().catch((error: unknown) => {
    log.warn({ err: error }, 'cannot listen for identity changes yet');
    again();
  });

  return {
    async find(sessionId) {
      const known = kept.get(sessionId);
      const isFresh = known && Date.now() - known.readAt < KEPT_FOR_MS;
      const identity = isFresh ? known : await read(sessionId);
      if (!identity) fail('INVALID_TOKEN');
      const { row, actor } = identity;
      const now = Date.now();
      if (row.revoked_at || row.session_ends.getTime() <= now) fail('INVALID_TOKEN');
      if (!row.enabled || (row.ends && row.ends.getTime() <= now)) fail('ACCOUNT_NOT_ENABLED');
      return actor;
    },
    async close() {
      isClosed = true;
      clearTimeout(retry);
      await listener?.end();
    },
  };
}

const actorOf = (row: Row, sessionId: string): Actor => ({
  id: row.id,
  kind: row.kind,
  clientId: row.client_id ?? NOBODY,
  isRoot: row.is_root,
  rootId: row.root_id,
  permissions: row.is_root ? allPermissions : new Set((row.permissions ?? []).filter(isPermission)),
  email: row.email,
  name: row.name,
  sessionId,
  proxy: row.proxy_id === null ? null : { id: row.proxy_id, email: row.proxy_email ?? '', name: row.proxy_name ?? '' },
});
