import type pg from 'pg';
import type { CountrySource } from '@edgeloom/contract/statistics/statistics.ts';
import type { Env } from './env.ts';
import type { PrismaClient } from '../generated/client.ts';
import { openTrust, type Trust } from './trust.ts';
import { openDatabase } from './db.ts';
import { openMail, type Mail } from './mail/queue.ts';
import { openResolver, type NameResolver } from './resolver.ts';
import { openSecrets, type Secrets } from './secrets.ts';

/** The dependencies of a process of this installation. */
export interface Installation {
  env: Env;
  /** Unscoped: for sign-in, jobs and the node link only. */
  db: PrismaClient;
  pool: pg.Pool;
  secrets: Secrets;
  mail: Mail;
  resolver: NameResolver;
  /** Null without a NATS identity: nodes cannot join. */
  trust: Trust | null;
  /** Null until the process has read its databases, which it does while it already responds. */
  geoip: { countrySource: () => CountrySource } | null;
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
    geoip: null,
    close: () => db.$disconnect(),
  };
}
