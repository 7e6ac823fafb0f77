import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { testDir } from '../../../../tests/support/services/test-dir.ts';
import { libpqEnvironment } from './libpq-environment.ts';

const file = path.join(await testDir(), 'a.pem');
await writeFile(file, '-----BEGIN CERTIFICATE-----');
const SYSTEM = { PGSSLMODE: 'verify-full', PGSSLROOTCERT: 'system' };
const OWN = { PGSSLMODE: 'verify-full', PGSSLROOTCERT: file };

const tlsOf = (query: string) =>
  Object.fromEntries(
    Object.entries(libpqEnvironment(`postgres://api:pass@db.example.com/edgeloom?${query}`)).filter(
      ([name]) => !['PGHOST', 'PGPORT', 'PGUSER', 'PGPASSWORD', 'PGDATABASE'].includes(name),
    ),
  );

test('pg_dump connects to the server of the API', () => {
  expect(libpqEnvironment('postgres://api:p%40ss@db.example.com:5433/edge%20loom')).toEqual({
    PGHOST: 'db.example.com',
    PGPORT: '5433',
    PGUSER: 'api',
    PGPASSWORD: 'p@ss',
    PGDATABASE: 'edge loom',
  });
});

describe('pg_dump verifies the server as the API does', () => {
  test.each<[string, Record<string, string>]>([
    ['sslmode=disable', { PGSSLMODE: 'disable' }],
    ['sslmode=no-verify', { PGSSLMODE: 'require' }],
    // libpq verifies as soon as it has a file of authorities.
    [`sslmode=no-verify&sslrootcert=${file}`, { PGSSLMODE: 'require' }],
    // Regression: the API verified its server for all of these, and pg_dump did not.
    ['sslmode=require', SYSTEM],
    ['sslmode=prefer', SYSTEM],
    ['sslmode=verify-ca', SYSTEM],
    ['ssl=true', SYSTEM],
    ['sslnegotiation=direct', { ...SYSTEM, PGSSLNEGOTIATION: 'direct' }],
    ['sslmode=verify-full', SYSTEM],
    [`sslmode=verify-full&sslrootcert=${file}`, OWN],
    [`sslmode=require&sslrootcert=${file}`, OWN],
    [`sslrootcert=${file}`, OWN],
    [`sslcert=${file}&sslkey=${file}`, { ...SYSTEM, PGSSLCERT: file, PGSSLKEY: file }],
    ['uselibpqcompat=true&sslmode=require', { PGSSLMODE: 'require' }],
    [`uselibpqcompat=true&sslmode=verify-ca&sslrootcert=${file}`, { PGSSLMODE: 'verify-ca', PGSSLROOTCERT: file }],
    ['sslmode=verify-full&ssl_min_protocol_version=TLSv1.3', { ...SYSTEM, PGSSLMINPROTOCOLVERSION: 'TLSv1.3' }],
  ])('%s', (query, expected) => {
    expect(tlsOf(query)).toEqual(expected);
  });
});

test('a TLS parameter that pg_dump cannot get stops the backup', () => {
  expect(() => tlsOf('sslmode=verify-full&sslpassword=secret')).toThrow(
    'pg_dump cannot get the parameter sslpassword of DATABASE_URL',
  );
});
