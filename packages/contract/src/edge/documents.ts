// What a node is told should be true. The control plane compiles these from rows, the agent checks and stores them,
// Lua and the renderer read them. Objects are open: a node one version older ignores what it does not know.
//
// A domain has a document of its own (`host/<name>`), apart from its site: a site may carry a hundred thousand names,
// and a change of one must not resend the others. A name that is switched off has no document at all.
import * as z from 'zod';
import { Id, Port } from '../common/common.ts';
import { ZoneAntiCC } from '../zone-anti-cc/zone-anti-cc.ts';
import { FirewallLevel, ZoneFirewall } from '../zone-firewall/zone-firewall.ts';
import { Ipset } from '../ipset/ipset.ts';
import { Folder } from '../common/folder.ts';
import { HostModules, ModuleDoc } from './module-doc.ts';
import { Sealed } from './sealed.ts';

/**
 * The last resort: an agent takes no documents of a higher one, goes on with those it has, and says that it is too old.
 * Raised only when it could not even keep what it is sent. Everything smaller has a gentler way (docs/architecture.md): a field
 * is ignored by whom it is new to, a kind is kept until somebody comes who knows it, and what must not be ignored is
 * named in `needs`.
 */
export const DOCUMENT_SCHEMA = 1;

/** What a document may insist on, and a node of this version can do: one name for whatever keeps visitors out. */
export const abilities: readonly string[] = [
  'antiHeader',
  'antiReferer',
  'firewall',
  'firewallLevel',
  'ipset',
  'tokenAuth',
];

/** Where one of these is none of the node's abilities, what the document is about is closed there. */
const Needs = z.array(z.string().min(1).max(64)).max(64).optional();

const Seconds = z.int().min(0).max(31_536_000);
const Count = z.int().min(0);

const Snippet = z.string().max(65_536);

/** Structure: what only nginx itself can do. A change renders files and reloads. */
export const ZoneDoc = z.object({
  kind: z.literal('zone'),
  id: Id,
  ports: z.array(z.object({ port: Port, tls: z.boolean() })),
  http2: z.boolean(),
  http3: z.boolean().optional().describe("where the node's nginx has it; absent: no"),
  tlsProtocols: z.array(z.enum(['TLSv1.2', 'TLSv1.3'])).min(1),
  worker: z.object({
    processes: z.int().min(0).max(256).describe('0: one per core'),
    connections: z.int().min(64).max(1_000_000),
  }),
  cache: z.object({ maxBytes: Count, keyBytes: Count, inactiveSeconds: Seconds }),
  maxBodyBytes: Count.describe('0: no limit'),
  forceSSLRedirectCode: z.int().min(301).max(308).optional().describe('301 where it is absent'),
  /** What its operator wrote for nginx. A node judges it again (zone-settings/allowed.ts) before it writes it anew. */
  snippets: z.object({ http: Snippet, stream: Snippet, worker: Snippet, custom: Snippet }).partial().optional(),
  /** Switched off for all sites of the zone, whatever they want. */
  off: z.array(z.enum(['compression', 'image'])).optional(),
  firewall: ZoneFirewall.extend({ level: FirewallLevel.default(0) })
    .optional()
    .describe('whom its kernel lets in; absent: everybody'),
  /** Who has to prove that he is no program; absent: nobody. An older node asks nobody either: no reason to follow its zone no more. */
  antiCC: ZoneAntiCC.omit({ enabled: true })
    .extend({ whitelist: z.array(z.string()).describe('networks that are never asked') })
    .optional(),
  ipset: Ipset.omit({ enabled: true }).optional().describe('the block set; absent: nobody is blocked'),
  /** Nodes that edge nodes ask before they ask an origin, for sites that want it. */
  relays: z.array(z.object({ id: Id, address: z.union([z.ipv4(), z.ipv6()]), port: Port })).optional(),
  /** CIDRs that origins may not lie in after their name is resolved, and exceptions that the operator made. */
  originPolicy: z.object({ deny: z.array(z.string()), allow: z.array(z.string()) }),
  needs: Needs,
});

/**
 * A change of the zone that proves itself on some nodes first: they have it in place of the zone's document, the others have never
 * heard of it. It ends by going away: the zone's document says the same by then, or says as ever.
 */
export const TrialDoc = z.object({
  kind: z.literal('trial'),
  version: Count,
  zone: ZoneDoc,
  nodes: z.array(Id),
  needs: Needs,
});

export const SiteStatus = z.enum(['normal', 'pause', 'limit', 'lock', 'expired']);

export const CacheRuleDoc = z.object({
  id: Id,
  type: z.enum(['fileType', 'url', 'prefix', 'regex']),
  /** File extensions without dot in lower case; or paths; or one RE2-subset pattern over the path. */
  values: z.array(z.string()).min(1),
  ttlSeconds: Seconds.describe('0: never cache what matches'),
  honourOrigin: z.boolean().describe("the origin's own freshness wins where it states one"),
  query: z.enum(['all', 'none', 'listed', 'sorted']),
  queryNames: z.array(z.string()),
  // What follows is left out where nothing is asked.
  minSeconds: Seconds.optional().describe("of the origin's own time, where it is honoured"),
  maxSeconds: Seconds.optional(),
  browserSeconds: Seconds.optional().describe('what visitors are told instead of what the origin says'),
  staleWhileRevalidateSeconds: Seconds.optional(),
  staleIfErrorSeconds: Seconds.optional(),
  cookies: z.enum(['all', 'listed']).optional().describe('tell two objects apart'),
  cookieNames: z.array(z.string()).optional(),
  passCookies: z.array(z.string()).optional().describe('names or, ending in *, how they begin'),
  stripCookies: z.boolean().optional(),
  slices: z.boolean().optional(),
  overrideOrigin: z.boolean().optional().describe("stores what the origin's private, no-store or Set-Cookie forbids"),
});

/** Which paths a rule is about: see the values of CacheRuleDoc; `all` has none. */
const PathsDoc = { type: z.enum(['all', 'fileType', 'url', 'prefix', 'regex']), values: z.array(z.string()) };

/** The first whose paths match decides. */
export const AntiRefererDoc = z.object({
  id: Id,
  ...PathsDoc,
  isBlack: z.boolean(),
  /** Host names; `*.` before one stands for one label, `**.` for one or more. */
  hosts: z.array(z.string()),
  allowEmpty: z.boolean(),
  /** Instead of 403; what lies at this host and path is let through. */
  redirect: z.object({ url: z.string(), host: z.string(), path: z.string() }).optional(),
});

/** The first that holds refuses. */
export const AntiHeaderDoc = z.object({
  id: Id,
  name: z.string().describe('lower case'),
  operator: z.enum(['equal', 'notEqual', 'contains', 'startsWith', 'matches', 'exists', 'absent']),
  value: z.string(),
  drop: z.boolean().describe('no answer at all, instead of 403'),
});

/** How fast a visitor is given what the rule is about; the first whose paths match decides. */
export const RateDoc = z.object({
  id: Id,
  ...PathsDoc,
  bytesPerSecond: z.int().min(1),
  afterBytes: Count.describe('which come at full speed first'),
});

/** What visitors get instead of an answer with that code. */
export const ErrorPageDoc = z.object({
  code: z.int(),
  html: z.string().optional(),
  csp: z.string().optional().describe('Content-Security-Policy of the page'),
  /** What lies at this host and path is never sent there again. */
  redirect: z.object({ url: z.string(), host: z.string(), path: z.string() }).optional(),
});

/** What all names of a site share. `cacheVersion` is part of every cache key of the site: raising it purges the site. */
export const SiteDoc = z.object({
  kind: z.literal('site'),
  id: Id,
  status: SiteStatus,
  cacheVersion: Count,
  /** In the order of evaluation; the first match wins; disabled ones are left out. */
  cacheRules: z.array(CacheRuleDoc),
  /** How long a stored response may answer for a failing origin that says nothing about it. */
  staleIfErrorSeconds: Seconds,
  /** What is compressed that origins send uncompressed; absent: nothing. */
  compression: z
    .object({ gzip: z.boolean(), brotli: z.boolean(), types: z.array(z.string()), minBytes: Count })
    .optional(),
  /** Which images go to those who take it as WebP; absent: none. */
  webp: z.object({ quality: z.int(), types: z.array(z.string()), minBytes: Count, maxBytes: Count }).optional(),
  /** Where nobody states a time, a tenth of what Last-Modified tells. */
  heuristics: z.boolean().optional(),
  /** False: a rule by extension stores any content type; absent: only one that fits the extension. */
  checkContentType: z.boolean().optional(),
  /** What becomes of Set-Cookie where the origin gives the response a time; absent: it is not stored. */
  setCookie: z.enum(['strip', 'keep']).optional(),
  /** Visitors' Cache-Control counts. */
  honourVisitors: z.boolean().optional(),
  /** The response to a POST that names its own URL and a time is stored for later GETs. */
  storePost: z.boolean().optional(),
  /** Request fields in lower case that go to the origin and are part of the key, besides what always goes. */
  passHeaders: z.array(z.string()).optional(),
  /** What a node does not have it asks a relay of the zone for, where there is one, and not the origin. */
  shield: z.boolean().optional(),
  /** Ports of the zone that it answers on, besides 80 and 443; absent: all. */
  ports: z.array(Port).optional(),
  antiHeaders: z.array(AntiHeaderDoc).optional(),
  rates: z.array(RateDoc).optional(),
  errorPages: z.array(ErrorPageDoc).optional(),
  needs: Needs,
});

export const UpstreamDoc = z.object({
  id: Id,
  address: z.string().describe('IPv4, IPv6 or a name'),
  port: Port,
  weight: z.int().min(1).max(100),
  backup: z.boolean(),
});

export const HostDoc = z.object({
  kind: z.literal('host'),
  name: z.string().describe('lower case; may begin with *.'),
  domainID: Id,
  siteID: Id,
  cacheVersion: Count,
  certID: Id.nullable(),
  /** Absent: nothing is asked of visitors beyond what the zone asks. */
  https: z
    .object({
      force: z.boolean().describe('send visitors by HTTP to HTTPS'),
      hsts: z.string().nullable().describe('Strict-Transport-Security of every answer by HTTPS'),
      minTLS: z.enum(['TLSv1.2', 'TLSv1.3']),
    })
    .optional(),
  antiReferers: z.array(AntiRefererDoc).optional(),
  /** After those of the site. */
  antiHeaders: z.array(AntiHeaderDoc).optional(),
  modules: HostModules.optional(),
  origin: z.object({
    scheme: z.enum(['http', 'https', 'follow']),
    /** With `follow`: the port of the origin by the port the visitor used. */
    portMap: z.array(z.object({ from: Port, to: Port })),
    host: z.string().nullable().describe("Host field sent to the origin; null: the visitor's"),
    sni: z.string().nullable().describe('null: as host, without its port'),
    verify: z.boolean().optional().describe('its certificate must be valid for that name'),
    /** The certificate that the edge shows to an HTTPS origin; absent: none. */
    certID: Id.optional(),
    slowStartSeconds: z.int().min(0).max(3600).optional(),
    /** What the agent asks of each origin; absent: nothing. */
    health: z
      .object({
        path: z.string(),
        host: z.string(),
        intervalSeconds: z.int().min(1).max(3600),
        timeoutSeconds: z.int().min(1).max(60),
        statusFrom: z.int(),
        statusTo: z.int(),
        fails: z.int().min(1),
        passes: z.int().min(1),
      })
      .optional(),
    method: z.enum(['roundRobin', 'addressHash', 'uriHash', 'leastConnections']),
    maxFails: z.int().min(0).max(100).describe('0: never rest an origin'),
    failTimeoutSeconds: z.int().min(1).max(3600),
    connectTimeoutSeconds: z.int().min(1).max(3600),
    readTimeoutSeconds: z.int().min(1).max(3600),
    websocketTimeoutSeconds: z
      .int()
      .min(1)
      .max(86_400)
      .optional()
      .describe('of silence in both directions; absent: an hour'),
    upstreams: z.array(UpstreamDoc).min(1).describe('enabled ones only'),
  }),
  needs: Needs,
});

export const CertDoc = z.object({
  kind: z.literal('cert'),
  id: Id,
  names: z.array(z.string()),
  notAfter: z.iso.datetime(),
  /** One each key type (RSA, ECDSA). */
  pairs: z.array(z.object({ chainPem: z.string(), key: Sealed.describe('of the PEM private key') })).min(1),
});

/** What a certificate authority looks for at a name while it is asked for a certificate. */
export const AcmeDoc = z.object({
  kind: z.literal('acme'),
  token: z.string(),
  /** Answered for this name only, and only while this site serves it. */
  name: z.string(),
  siteID: Id,
  keyAuthorization: z.string(),
});

/**
 * A layer-4 forward: structure, like the zone, but of a second nginx that does nothing else. A rule that is off, or
 * whose site is out of service, has no document.
 */
export const PortDoc = z.object({
  kind: z.literal('port'),
  id: Id,
  siteID: Id,
  port: Port,
  protocol: z.enum(['tcp', 'udp']),
  acceptProxy: z.boolean().describe('visitors come with the PROXY protocol, version 1 or 2; TCP only'),
  sendProxy: z.boolean().describe('origins are told of the visitor by the PROXY protocol, version 1; TCP only'),
  method: z.enum(['roundRobin', 'addressHash', 'leastConnections']),
  maxFails: z.int().min(0).max(100).describe('0: never rest an origin'),
  failTimeoutSeconds: z.int().min(1).max(3600),
  connectTimeoutSeconds: z.int().min(1).max(3600),
  idleTimeoutSeconds: z.int().min(1).max(86_400).describe('of silence in both directions, until it is closed'),
  upstreams: z.array(UpstreamDoc).min(1).describe('enabled ones only'),
});

/** What concerns one node alone. */
export const NodeDoc = z.object({
  kind: z.literal('node'),
  id: Id,
  enabled: z.boolean(),
  cacheMaxBytes: Count.describe("0: the zone's value"),
  // What follows is left out where nothing is asked.
  cacheDir: Folder.optional().describe('where its store lies; absent: in its own directory'),
  drainUntil: z.iso.datetime().optional().describe('switched off, but it goes on serving until then'),
  portType: z.enum(['7', '4']).optional().describe('the one layer that it serves; absent: both'),
  logRotateSeconds: z.int().min(60).max(31_536_000).optional(),
  geneva: z
    .object({ packetSize: z.int().min(88).max(1460).nullable(), windowSize: z.int().min(1).max(65_535).nullable() })
    .optional()
    .describe("what its answers to visitors' first packets say"),
  relayPort: Port.optional().describe('a relay: it answers edge nodes of its zone there, and no visitors'),
});

export type ZoneDoc = z.output<typeof ZoneDoc>;
export type TrialDoc = z.output<typeof TrialDoc>;
export type SiteDoc = z.output<typeof SiteDoc>;
export type HostDoc = z.output<typeof HostDoc>;
export type CertDoc = z.output<typeof CertDoc>;
export type AcmeDoc = z.output<typeof AcmeDoc>;
export type PortDoc = z.output<typeof PortDoc>;
export type NodeDoc = z.output<typeof NodeDoc>;
export type CacheRuleDoc = z.output<typeof CacheRuleDoc>;
export type AntiRefererDoc = z.output<typeof AntiRefererDoc>;
export type ErrorPageDoc = z.output<typeof ErrorPageDoc>;
export type RateDoc = z.output<typeof RateDoc>;
export type AntiHeaderDoc = z.output<typeof AntiHeaderDoc>;
export type EdgeDoc = ZoneDoc | TrialDoc | SiteDoc | HostDoc | CertDoc | AcmeDoc | PortDoc | ModuleDoc | NodeDoc;

const kinds = {
  zone: ZoneDoc,
  trial: TrialDoc,
  site: SiteDoc,
  host: HostDoc,
  cert: CertDoc,
  acme: AcmeDoc,
  port: PortDoc,
  module: ModuleDoc,
  node: NodeDoc,
};
const Kind = z.literal(['zone', 'trial', 'site', 'host', 'cert', 'acme', 'port', 'module', 'node']);
const kindOf = (key: string) => key.split('/', 1)[0] ?? '';
const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const keyPattern = new RegExp(
  `^(?:zone|trial|(?:site|cert|port|module|node)/${uuid}|acme/[A-Za-z0-9_-]{16,128}|host/(?:\\*\\.)?[a-z0-9_-]+(?:\\.[a-z0-9_-]+)+)$`,
);
/** Of kinds that are still to come; beside documents lie the agent's journal and the answers about certificates. */
const laterKeyPattern = /^(?!(?:manifest|ocsp)(?:\/|$))[a-z][A-Za-z]{0,31}(?:\/[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)?$/;

/** Whether it serves a layer at this moment. */
export const servesLayer = (node: NodeDoc | null, layer: '7' | '4', now: Date) => {
  if (node === null) return true;
  const isOn = node.enabled || (node.drainUntil !== undefined && new Date(node.drainUntil) > now);
  // A relay has no visitors of its own, and so no forwards.
  return isOn && (node.relayPort === undefined ? (node.portType ?? layer) === layer : layer === '7');
};

/** `zone`, `trial`, `site/<id>`, `host/<name>`, `cert/<id>`, `acme/<token>`, `port/<id>`, `module/<id>`, `node/<id>`, and `<kind>` or
 *  `<kind>/<name>` of a later version: safe as a file path by its grammar. */
export const DocKey = z
  .string()
  .max(280)
  .refine((key) => (Kind.safeParse(kindOf(key)).success ? keyPattern : laterKeyPattern).test(key), {
    error: 'not the key of a document',
  });
export const hostKey = (name: string) => `host/${name}`;
export const siteKey = (id: string) => `site/${id}`;
export const certKey = (id: string) => `cert/${id}`;
export const acmeKey = (token: string) => `acme/${token}`;
export const portKey = (id: string) => `port/${id}`;
export const moduleKey = (id: string) => `module/${id}`;
export const nodeKey = (id: string) => `node/${id}`;

/** What this node's zone says to it: the trial where it takes part in one. */
export const zoneFor = (nodeID: string, zone: ZoneDoc, trial: TrialDoc | null): ZoneDoc =>
  trial?.nodes.includes(nodeID) === true && trial.zone.id === zone.id ? trial.zone : zone;

export function keyOf(doc: EdgeDoc): string {
  if (doc.kind === 'zone' || doc.kind === 'trial') return doc.kind;
  if (doc.kind === 'host') return hostKey(doc.name);
  return doc.kind === 'acme' ? acmeKey(doc.token) : `${doc.kind}/${doc.id}`;
}

/** The document that stands behind a key, or the fault that refuses it. */
export function parseDoc(key: string, body: string): EdgeDoc {
  const schema = kinds[Kind.parse(kindOf(DocKey.parse(key)))];
  const doc = schema.parse(JSON.parse(body));
  const own = keyOf(doc);
  if (own !== key) throw new Error(`the document of ${key} says it is ${own}`);
  return doc;
}

/** `later`: made for a later version, and kept for one. `closed`: the same, and what it is about must not be served until
 *  then, for it lacks these abilities here. */
export type Judged = { doc: EdgeDoc } | { later: true } | { closed: string[] };

const Insistent = z.looseObject({ needs: Needs, module: z.string().min(1).optional() });
const knownModules = Object.keys(HostModules.shape);

/** What a node of this version makes of a document that may be of any version; a fault refuses it. */
export function judgeDoc(key: string, body: string): Judged {
  const kind = kindOf(DocKey.parse(key));
  const { needs = [], module } = Insistent.parse(JSON.parse(body));
  const lacked = needs.filter((need) => !abilities.includes(need));
  if (lacked.length > 0) return { closed: lacked };
  const isLater =
    !Kind.safeParse(kind).success || (kind === 'module' && module !== undefined && !knownModules.includes(module));
  return isLater ? { later: true } : { doc: parseDoc(key, body) };
}

/** What this document insists on: whatever in it keeps visitors out. */
export function needsOf({ antiHeaders, antiReferers, modules }: Partial<HostDoc>): { needs?: string[] } {
  const needs = [
    ...(antiHeaders ? ['antiHeader'] : []),
    ...(antiReferers ? ['antiReferer'] : []),
    ...(modules?.tokenAuth ? ['tokenAuth'] : []),
  ];
  return needs.length > 0 ? { needs } : {};
}
