// The environment variables, read once. docs/configuration.md is generated from the descriptions below.
import * as z from 'zod';
import { DnsProvider } from '@edgeloom/contract/dns-account/dns-account.ts';

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
    .describe('Connections that one process keeps at most'),
  NATS_URL: z
    .url({ protocol: /^(nats|tls)$/ })
    .default('nats://127.0.0.1:4222')
    .describe('Where the control plane itself reaches NATS'),
  NODE_NATS_URLS: List.default([]).describe('What nodes are told, by comma; empty: NATS_URL'),
  SECRETS_DIR: z
    .string()
    .min(1)
    .describe('Folder of master.key, session.key and nats.json; `cli.ts secrets:init` makes them'),
  HOST: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe('Address of the public listener: the API and the consoles of customers and operators'),
  PORT: PortNumber.default(8080).describe('Its port; 0 takes any free one'),
  ADMIN_HOST: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe('Address of the listener that alone serves the admin console and its calls'),
  ADMIN_PORT: PortNumber.default(8081).describe('Its port; 0 takes any free one'),
  PUBLIC_URL: z
    .url({ protocol: /^https?$/ })
    .default('http://127.0.0.1:8080')
    .describe('The address people type; used in mails, and https here makes cookies secure'),
  ADMIN_URL: z
    .url({ protocol: /^https?$/ })
    .default('http://127.0.0.1:8081')
    .describe('The address of the admin console; used in mails to its accounts, and passkeys work there'),
  TRUST_PROXY: List.default([]).describe(
    'Addresses or CIDRs of the proxies before us, by comma; only they may say who the caller is',
  ),
  CONSOLE_DIR: z.string().optional().describe('The built console; without it only the API is served'),
  BODY_LIMIT: z.coerce.number().int().min(1024).default(2_097_152).describe('Bytes of the largest request body'),
  RATE_SIGN_IN: Rate.prefault('300/900').describe(
    'Calls without a session from one address that open one or try to, over all processes: calls/seconds',
  ),
  RATE_MAIL: Rate.prefault('60/900').describe('Calls that send mail, of one account or address, over all processes'),
  RATE_PROBE: Rate.prefault('30/60').describe(
    'Looks at an origin, a DNS account or where names lead, for whoever sets them up, of one account or address, over all processes',
  ),
  RATE_WRITE: Rate.prefault('600/60').describe('Calls of one account that change something, in one process'),
  RATE_READ: Rate.prefault('3000/60').describe('Calls of one account that only read, in one process'),
  RATE_ADDRESS_FACTOR: z.coerce
    .number()
    .int()
    .min(1)
    .max(1000)
    .default(10)
    .describe('How many accounts’ worth of writes and reads one address has: offices share one'),
  MAIL_DIR: z.string().optional().describe('Write each mail to a file of this folder, for trying things out'),
  SMTP_URL: z
    .url({ protocol: /^smtps?$/ })
    .optional()
    .describe('Send mail by this server: smtp://user:password@host:587'),
  MAIL_FROM: z.string().min(3).default('Edgeloom <edgeloom@localhost>').describe('Sender of our mails'),
  ORIGIN_ALLOW: List.pipe(z.array(z.union([z.cidrv4(), z.cidrv6()])))
    .default([])
    .describe('CIDRs that origins may lie in although they are private or local'),
  ORIGIN_DENY: List.pipe(z.array(z.union([z.cidrv4(), z.cidrv6()])))
    .default([])
    .describe("Further CIDRs that origins may not lie in: the control plane's own addresses"),
  CNAME_SUFFIX: z
    .string()
    .regex(/^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/, 'a domain name in lower case')
    .max(200)
    .optional()
    .describe(
      "Where an operator has no DNS account, domains point to a name of their site's below this one; make `*.<suffix>` lead to the nodes",
    ),
  NODE_CONTROL_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Where nodes reach this API to join; empty: PUBLIC_URL'),
  NODE_ALLOW: List.pipe(z.array(z.union([z.cidrv4(), z.cidrv6()])))
    .default([])
    .describe('CIDRs that nodes may be installed in although they are private or local'),
  RELEASES_DIR: z
    .string()
    .optional()
    .describe(
      'Folder of signed releases, of the agent and of packs of data, as `deploy/release.ts` makes them: what machines that become nodes are sent, and what nodes are upgraded to',
    ),
  RELEASE_KEYS: z
    .string()
    .optional()
    .describe(
      'Whose releases are taken: a file of Ed25519 public keys in PEM, or their text. Nodes are given them when they are installed',
    ),
  ARTIFACTS_DIR: z
    .string()
    .optional()
    .describe(
      'Folder of what else machines are sent: openresty-*.el9.x86_64.rpm, node-v20*-linux-x64.tar.gz, for CentOS 7 node-v20*-linux-x64-glibc-217.tar.gz',
    ),
  NGINX_BINARY: z
    .string()
    .min(1)
    .default('nginx')
    .describe(
      'nginx or OpenResty with Lua, which tests what operators write for it, in namespaces of its own (unshare, setpriv, prlimit); without one nothing written is stored',
    ),
  OPENRESTY_URL: z
    .url({ protocol: /^https?$/ })
    .default('https://openresty.org/package')
    .describe('Repository of OpenResty for machines that are sent no rpm, or a mirror of it'),
  DNS_RESOLVERS: List.pipe(
    z.array(z.string().regex(/^([0-9.]+|\[[0-9a-f:]+\]|[0-9a-f:]+)(:[0-9]{1,5})?$/i, 'address:port')),
  )
    .default([])
    .describe(
      "Name servers that are asked where domains point to, and which ones a zone has, by comma; empty: the system's",
    ),
  DNS_ENDPOINTS: Json.pipe(z.partialRecord(DnsProvider.exclude(['powerDNS']), z.url({ protocol: /^https?$/ })))
    .prefault('{}')
    .describe(
      'Where DNS providers are asked instead of at their own addresses, as JSON: {"dnspod": "https://…"}, for a private endpoint or a relay. Plain http, and private networks, only where ORIGIN_ALLOW names them',
    ),
  ACME_AUTHORITIES: Authorities.default([
    { name: "Let's Encrypt", directory: 'https://acme-v02.api.letsencrypt.org/directory', ordersPer3Hours: 250 },
  ]).describe(
    'Who issues automatic certificates, the first that can, as JSON: [{"name", "directory", "eab": {"kid", "key"}, "rootFile", "ordersPer3Hours"}]; eab where the authority wants one, rootFile where the system does not trust it, ordersPer3Hours to stay below its limit (250)',
  ),
  ACME_CONTACT: z.email().optional().describe('Where authorities reach whoever runs this installation'),
  METRICS_TOKEN: z
    .string()
    .min(16)
    .optional()
    .describe('Bearer token of GET /api/v1/metrics; without it the call is off'),
  LOG_LEVEL: z
    .enum(['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'])
    .default('info')
    .describe('Least grave line that is logged'),
  LOG_REQUESTS: Flag.default(true).describe('One log line for each call'),
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
