import type pg from 'pg';
import type { Env } from '../env.ts';
import type { PrismaClient } from '../generated/client.ts';
import { openTrust, type Trust } from '../node-link/trust.ts';
import { openDatabase } from './db.ts';
import { openMail, type Mail } from './mail/queue.ts';
import { openResolver, type NameResolver } from './resolver.ts';
import { openSecrets, type Secrets } from './secrets.ts';

/** What one process of this installation works with. */
export interface Installation {
  env: Env;
  /** Without a scope: for sign-in, jobs and the node link alone. */
  db: PrismaClient;
  pool: pg.Pool;
  secrets: Secrets;
  mail: Mail;
  resolver: NameResolver;
  /** Null where no NATS identity is configured: nodes cannot join then. */
  trust: Trust | null;
}

export async function openInstallation(env: Env): Promise<Installation & { close: () => Promise<void> }> {
  const [secrets, trust] = await Promise.all([openSecrets(env.SECRETS_DIR), openTrust(env.SECRETS_DIR)]);
  const { db, pool } = openDatabase(env.DATABASE_URL, env.DATABASE_POOL);
  return {
    env,
    db,
    pool,
    secrets,
    mail: openMail(secrets),
    resolver: openResolver(env),
    trust,
    close: () => db.$disconnect(),
  };
}
