// The database without a scope. Sign-in, jobs and the node link use it; a lint rule keeps it out of modules.
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { PrismaClient } from '../generated/client.ts';

/** One pool for Prisma and for plain SQL, so that one number bounds the connections of a process. */
export function openDatabase(url: string, max: number): { db: PrismaClient; pool: pg.Pool } {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    connectionTimeoutMillis: 5000,
    application_name: 'edgeloom-api',
  });
  // An idle connection that breaks is replaced at the next query; without a listener it would end the process.
  pool.on('error', () => undefined);
  return { db: new PrismaClient({ adapter: new PrismaPg(pool, { disposeExternalPool: true }) }), pool };
}
