// The connection of DATABASE_URL as environment of pg_dump. The API's driver and libpq read the same parameters
// differently: `sslmode=require` verifies the server in the driver, and does not in libpq.
import pg from 'pg';

/** Parameters with their variable, where libpq has one of the same meaning. */
const VARIABLES: Readonly<Record<string, string>> = {
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
  sslcrl: 'PGSSLCRL',
  sslcrldir: 'PGSSLCRLDIR',
  sslsni: 'PGSSLSNI',
  sslcertmode: 'PGSSLCERTMODE',
  sslnegotiation: 'PGSSLNEGOTIATION',
  ssl_min_protocol_version: 'PGSSLMINPROTOCOLVERSION',
  ssl_max_protocol_version: 'PGSSLMAXPROTOCOLVERSION',
  channel_binding: 'PGCHANNELBINDING',
  require_auth: 'PGREQUIREAUTH',
};
const AUTHORITIES = new Set(['sslrootcert', 'sslcrl', 'sslcrldir']);
/** Decided by what the driver makes of them. */
const DECIDED = new Set(['ssl', 'sslmode']);

/**
 * Arguments are visible to other users of the machine, and URLs may have options of Edgeloom, so variables carry all.
 * Throws the name of a TLS parameter that pg_dump cannot get.
 */
export function libpqEnvironment(url: string): Record<string, string> {
  const { searchParams } = new URL(url);
  const unknown = [...searchParams.keys()].find(
    (name) => name.startsWith('ssl') && !DECIDED.has(name) && VARIABLES[name] === undefined,
  );
  if (unknown !== undefined) throw new Error(`pg_dump cannot get the parameter ${unknown} of DATABASE_URL`);
  const { host, port, user, password, database, ssl } = new pg.Client(url);
  const mode = tlsMode(ssl, searchParams.get('sslmode'));
  const parameters = Object.entries(VARIABLES).flatMap(([name, variable]) => {
    const value = searchParams.get(name) ?? '';
    // With a file of authorities libpq verifies, where the driver does not.
    if (value === '' || (mode['PGSSLMODE'] === 'require' && AUTHORITIES.has(name))) return [];
    return [[variable, value] as const];
  });
  return {
    PGHOST: host,
    PGPORT: String(port),
    ...(user !== undefined && { PGUSER: user }),
    ...(typeof password === 'string' && { PGPASSWORD: password }),
    ...(database !== undefined && { PGDATABASE: database }),
    ...mode,
    ...Object.fromEntries(parameters),
  };
}

/** `ssl` is what the driver does: false, true, or the options of Node's TLS. */
function tlsMode(ssl: unknown, mode: string | null): Record<string, string> {
  if (ssl === false || ssl === undefined) return mode === 'disable' ? { PGSSLMODE: mode } : {};
  const options = typeof ssl === 'object' && ssl !== null ? ssl : {};
  if ('rejectUnauthorized' in options && options.rejectUnauthorized === false) return { PGSSLMODE: 'require' };
  if ('checkServerIdentity' in options) return { PGSSLMODE: 'verify-ca' };
  // Without a file Node trusts public authorities; so does libpq with `system`, and before version 16 it refuses.
  return { PGSSLMODE: 'verify-full', PGSSLROOTCERT: 'system' };
}
