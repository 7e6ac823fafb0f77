// The environment variables, read once. docs/configuration.md is generated from the descriptions below.
import * as z from 'zod';
import { Folder } from '@edgeloom/contract/common/folder.ts';
import { DnsProvider } from '@edgeloom/contract/dns-account/dns-account.ts';

/** TOP_VALUES_DAYS is at least this. */
export const MIN_TOP_VALUES_DAYS = 2;

const PortNumber = z.coerce.number().int().min(0).max(65_535);
const List = z.string().transform((text) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
);
const Rate = z
  .string()
  .regex(/^[1-9]\d{0,8}\/[1-9]\d{0,5}$/, 'calls/seconds')
  .transform((text) => {
    const [calls = 0, seconds = 0] = text.split('/').map(Number);
    return { calls, seconds };
  });
export type Rate = z.output<typeof Rate>;
const Flag = z.enum(['true', 'false']).transform((text) => text === 'true');

const Authority = z.object({
  name: z.string().min(1).max(64),
  directory: z.url({ protocol: /^https$/ }),
  eab: z.object({ kid: z.string().min(1), key: z.string().min(1) }).optional(),
  rootFile: z.string().optional(),
  ordersPer3Hours: z.int().min(1).default(250),
});
const Json = z.string().transform((text, ctx): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    ctx.addIssue({ code: 'custom', message: 'not JSON' });
    return z.NEVER;
  }
});
const Authorities = Json.pipe(z.array(Authority).max(10));

export const Env = z.object({
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }).describe('PostgreSQL 15 or later, as a connection string'),
  DATABASE_POOL: z.coerce
    .number()
    .int()
    .min(2)
    .max(500)
    .default(20)
    .describe('Maximum number of database connections of a process'),
  NATS_URL: z
    .url({ protocol: /^(nats|tls)$/ })
    .default('nats://127.0.0.1:4222')
    .describe('URL of NATS for the control plane'),
  NODE_NATS_URLS: List.default([]).describe('URLs of NATS for nodes, separated by commas. Default: NATS_URL'),
  SECRETS_DIR: z
    .string()
    .min(1)
    .describe('Folder of master.key, session.key and nats.json; `cli.ts secrets:init` creates them'),
  HOST: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe('Address of the public listener: the API and the consoles of customers and operators'),
  PORT: PortNumber.default(8080).describe('Its port; 0 is any free one'),
  ADMIN_HOST: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe('Address of the only listener that serves the admin console and its calls'),
  ADMIN_PORT: PortNumber.default(8081).describe('Its port; 0 is any free one'),
  PUBLIC_URL: z
    .url({ protocol: /^https?$/ })
    .default('http://127.0.0.1:8080')
    .describe('URL of the consoles for users and in mails; https makes cookies secure'),
  ADMIN_URL: z
    .url({ protocol: /^https?$/ })
    .default('http://127.0.0.1:8081')
    .describe('URL of the admin console, for its mails and passkeys'),
  TRUST_PROXY: List.default([]).describe(
    'Addresses or CIDRs of proxies whose X-Forwarded-For is trusted, separated by commas',
  ),
  CONSOLE_DIR: z.string().optional().describe('Folder of the built console; without it only the API is served'),
  BODY_LIMIT: z.coerce.number().int().min(1024).default(2_097_152).describe('Maximum size of a request body in bytes'),
  RATE_SIGN_IN: Rate.prefault('300/900').describe(
    'Rate limit of sign-ins per address, over all processes: calls/seconds',
  ),
  RATE_MAIL: Rate.prefault('60/900').describe(
    'Rate limit of calls that send mail, per account and address, over all processes',
  ),
  RATE_PROBE: Rate.prefault('30/60').describe(
    'Rate limit of tests of origins, DNS accounts and CNAMEs, per account and address, over all processes',
  ),
  RATE_WRITE: Rate.prefault('600/60').describe('Rate limit of writes per account, in each process'),
  RATE_READ: Rate.prefault('3000/60').describe('Rate limit of reads per account, in each process'),
  RATE_ADDRESS_FACTOR: z.coerce
    .number()
    .int()
    .min(1)
    .max(1000)
    .default(10)
    .describe('Factor by which the limits of an address exceed those of an account, since offices share an address'),
  MAIL_DIR: z.string().optional().describe('Folder to which mails are written instead of sent, for tests'),
  SMTP_URL: z
    .url({ protocol: /^smtps?$/ })
    .optional()
    .describe('Mail server: smtp://user:password@host:587'),
  MAIL_FROM: z.string().min(3).default('Edgeloom <edgeloom@localhost>').describe('Sender of mails'),
  TELEGRAM_API_URL: z
    .url({ protocol: /^https?$/ })
    .default('https://api.telegram.org')
    .describe(
      "Telegram's Bot API, or a server of one's own, to which ORIGIN_ALLOW and ORIGIN_DENY do not apply. Requests contain the tokens of bots, so use plain HTTP only on this machine",
    ),
  ORIGIN_ALLOW: List.pipe(z.array(z.union([z.cidrv4(), z.cidrv6()])))
    .default([])
    .describe('Private or local CIDRs in which origins are allowed'),
  ORIGIN_DENY: List.pipe(z.array(z.union([z.cidrv4(), z.cidrv6()])))
    .default([])
    .describe("Further CIDRs in which origins are not allowed, such as the control plane's own"),
  CNAME_SUFFIX: z
    .string()
    .regex(/^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/, 'a domain name in lower case')
    .max(200)
    .optional()
    .describe('Suffix of CNAME targets for operators without a DNS account; `*.<suffix>` must point to the nodes'),
  NODE_CONTROL_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('URL of this API for nodes. Default: PUBLIC_URL'),
  NODE_ALLOW: List.pipe(z.array(z.union([z.cidrv4(), z.cidrv6()])))
    .default([])
    .describe('Private or local CIDRs in which nodes may be installed'),
  RELEASES_DIR: z
    .string()
    .optional()
    .describe(
      'Folder of signed releases of the agent and of data packs, made by `deploy/release.ts`, for installations and upgrades',
    ),
  RELEASE_KEYS: z
    .string()
    .optional()
    .describe(
      'Public keys that verify releases: a file of Ed25519 keys in PEM, or their text. Nodes get them when they are installed',
    ),
  LICENSE_KEYS: z
    .string()
    .optional()
    .describe(
      'Public keys that verify offline licenses of this installation: a file of Ed25519 keys in PEM, or their text. See licenses.md',
    ),
  LICENSE_SIGNING_KEY: z
    .string()
    .optional()
    .describe('File of the private Ed25519 key in PEM with which this installation signs offline licenses of others'),
  BACKUP_DIR: Folder.default('/var/lib/edgeloom-api/backups').describe(
    'Folder in which the operator of an installation without others may have the database backed up. See backup.md',
  ),
  PG_DUMP_BINARY: z
    .string()
    .min(1)
    .default('pg_dump')
    .describe('pg_dump for these backups, of the major version of the database or a later one'),
  ARTIFACTS_DIR: z
    .string()
    .optional()
    .describe(
      'Folder of further files for installations: openresty-*.el9.x86_64.rpm, node-v20*-linux-x64.tar.gz, for CentOS 7 node-v20*-linux-x64-glibc-217.tar.gz',
    ),
  NGINX_BINARY: z
    .string()
    .min(1)
    .default('nginx')
    .describe(
      'nginx or OpenResty with Lua that tests snippets of operators, in namespaces (unshare, setpriv, prlimit). Without it no snippet is stored',
    ),
  OPENRESTY_URL: z
    .url({ protocol: /^https?$/ })
    .default('https://openresty.org/package')
    .describe('Repository of OpenResty, or a mirror, for installations without an rpm'),
  DNS_RESOLVERS: List.pipe(
    z.array(z.string().regex(/^([0-9.]+|\[[0-9a-f:]+\]|[0-9a-f:]+)(:[0-9]{1,5})?$/i, 'address:port')),
  )
    .default([])
    .describe(
      "DNS resolvers for CNAME checks and for the name servers of zones, separated by commas. Default: the system's",
    ),
  DNS_ENDPOINTS: Json.pipe(z.partialRecord(DnsProvider.exclude(['powerDNS']), z.url({ protocol: /^https?$/ })))
    .prefault('{}')
    .describe(
      'Endpoints of DNS providers in place of their own, as JSON: {"dnspod": "https://…"}, for private endpoints or proxies. Plain HTTP and private networks must be permitted by ORIGIN_ALLOW',
    ),
  ACME_AUTHORITIES: Authorities.default([
    { name: "Let's Encrypt", directory: 'https://acme-v02.api.letsencrypt.org/directory', ordersPer3Hours: 250 },
  ]).describe(
    'ACME authorities in order of preference, as JSON: [{"name", "directory", "eab": {"kid", "key"}, "rootFile", "ordersPer3Hours"}]. eab: external account binding; rootFile: for a root that the system does not trust; ordersPer3Hours: rate limit (250)',
  ),
  ACME_CONTACT: z.email().optional().describe('Contact address of this installation for ACME authorities'),
  ACCESS_LOG_DAYS: z.coerce
    .number()
    .int()
    .min(0)
    .max(90)
    .default(8)
    .describe('How many days single requests are kept for searches. 0: only their sums are stored'),
  SESSION_LOG_DAYS: z.coerce
    .number()
    .int()
    .min(0)
    .max(90)
    .optional()
    .describe('The same of single layer-4 sessions. Default: ACCESS_LOG_DAYS'),
  // Figures beside rules and origins are of the last day, and sketches of addresses are kept for 32 days.
  TOP_VALUES_DAYS: z.coerce
    .number()
    .int()
    .min(MIN_TOP_VALUES_DAYS)
    .max(32)
    .default(32)
    .describe('How many days the top values of addresses, URLs, countries and others are kept'),
  LOG_SEARCH_MS: z.coerce
    .number()
    .int()
    .min(1)
    .max(20_000)
    .default(250)
    .describe(
      'A search of requests that may end early (mayEndEarly) and takes longer returns what it found, and the time that it reached',
    ),
  CLICKHOUSE_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'ClickHouse for single requests, with its database: https://user:password@host:8443/edgeloom. Default: they stay in PostgreSQL. See scaling.md',
    ),
  CLICKHOUSE_CLUSTER: z
    .string()
    .regex(/^\w{1,64}$/)
    .optional()
    .describe('Name of a ClickHouse cluster of replicas, on which the table is created. Default: one server'),
  GEOIP_COUNTRY_FILE: z
    .string()
    .optional()
    .describe(
      'Country or City database in MaxMind format (MMDB), read again within an hour of a change. Default: the bundled database, which has countries only',
    ),
  GEOIP_ASN_FILE: z
    .string()
    .optional()
    .describe('ASN database in MaxMind format (MMDB) for network operators. Without it they are unknown'),
  METRICS_TOKEN: z
    .string()
    .min(16)
    .optional()
    .describe('Bearer token of GET /api/v1/metrics; without it the call is disabled'),
  LOG_LEVEL: z
    .enum(['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'])
    .default('info')
    .describe('Minimum level of logged lines'),
  LOG_REQUESTS: Flag.default(true).describe('Logs each call'),
});
export type Env = z.output<typeof Env>;
export type Authority = z.output<typeof Authority>;

/** Reports all errors at once, by the name of the variable. */
export function readEnv(source: Readonly<Record<string, string | undefined>> = process.env): Env {
  // An empty variable counts as unset, because compose files and unit files cannot omit a variable.
  const given = Object.fromEntries(Object.entries(source).filter(([name, value]) => name in Env.shape && value !== ''));
  const { success, data, error } = Env.safeParse(given);
  if (success) return data;
  const faults = error.issues.map(({ path, message }) => `  ${path.join('.')}: ${message}`);
  throw new Error(`The environment is not usable:\n${faults.join('\n')}`);
}
