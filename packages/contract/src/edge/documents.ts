// The documents of nodes. The control plane compiles them from rows, the agent validates and stores them, Lua and the
// renderer read them. Objects are open: an older node ignores unknown fields.
//
// A domain has its own document (`host/<name>`) apart from its site: a site may have a hundred thousand names, and a
// change of one must not resend the others.
import * as z from 'zod';
import { Id, Port } from '../common/common.ts';
import { ZoneAntiCC } from '../zone-anti-cc/zone-anti-cc.ts';
import { FirewallLevel, ZoneFirewall } from '../zone-firewall/zone-firewall.ts';
import { Ipset } from '../ipset/ipset.ts';
import { VisitorAddress } from '../visitor-address/visitor-address.ts';
import { Folder } from '../common/folder.ts';
import { HostModules, ModuleDoc } from './module-doc.ts';
import { Sealed } from './sealed.ts';

/**
 * The last resort for incompatible changes: an agent accepts no documents with a higher number, keeps serving its own,
 * and reports that it is too old. Smaller changes have gentler ways (docs/architecture.md): unknown fields are ignored,
 * unknown kinds are stored, and restrictions that must not be ignored are listed in `needs`.
 */
export const DOCUMENT_SCHEMA = 1;

/** Capabilities of this version that a document may require: one name per kind of access restriction. */
export const supportedNeeds: readonly string[] = [
  'acl',
  'antiHeader',
  'antiReferer',
  'botFields',
  'firewall',
  'firewallLevel',
  'ipset',
  'luaAcl',
  'proxyProtocol',
  'restrictedNetworks',
  'siteFirewall',
  'tokenAuth',
  'visitorAddress',
  'waf',
];

/** A node without one of these capabilities must not serve the subject of the document. */
const Needs = z.array(z.string().min(1).max(64)).max(64).optional();

const Seconds = z.int().min(0).max(31_536_000);
const Count = z.int().min(0);

const Snippet = z.string().max(65_536);

/** Structure, which only nginx itself can do. A change renders files and reloads. */
export const ZoneDoc = z.object({
  kind: z.literal('zone'),
  id: Id,
  ports: z.array(
    z.object({
      port: Port,
      tls: z.boolean(),
      proxyProtocol: z.boolean().optional().describe('connections begin with a PROXY header'),
    }),
  ),
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
  /** The operator's nginx snippets. Nodes validate them again (directive-allowlist.ts) before writing them. */
  snippets: z.object({ http: Snippet, stream: Snippet, worker: Snippet, custom: Snippet }).partial().optional(),
  /** Disabled for all sites of the zone. */
  off: z.array(z.enum(['compression', 'image'])).optional(),
  /** No site's firewall inspects requests. Apart from `off`, in which an older node accepts no other names. */
  wafOff: z.literal(true).optional().describe('An older node ignores this field: its firewalls stay on'),
  firewall: ZoneFirewall.extend({ level: FirewallLevel.default(0) })
    .optional()
    .describe('whom its kernel lets in; absent: everybody'),
  /** Challenges of visitors. Absent: none. An older node ignores this field and still applies the zone. */
  antiCC: ZoneAntiCC.omit({ enabled: true })
    .extend({ whitelist: z.array(z.string()).describe('networks that are never asked') })
    .optional(),
  ipset: Ipset.omit({ enabled: true }).optional().describe('the block set; absent: nobody is blocked'),
  visitorAddress: VisitorAddress.omit({ proxy: true, proxyProtocolPorts: true })
    .optional()
    .describe('whose header names the visitor; absent: nobody'),
  /** Nodes that edge nodes ask before the origin, for sites that want it. */
  relays: z.array(z.object({ id: Id, address: z.union([z.ipv4(), z.ipv6()]), port: Port })).optional(),
  /**
   * Forbidden networks of resolved origin addresses, the installation's exceptions, and forbidden networks without any
   * exception.
   */
  originPolicy: z.object({
    deny: z.array(z.string()),
    allow: z.array(z.string()),
    restricted: z.array(z.string()).optional(),
  }),
  needs: Needs,
});

/**
 * A zone change under trial on some nodes, which use it in place of the zone's document. It ends by being removed: by
 * then the zone's document contains the change, or stays as it was.
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
  /** File extensions in lower case without a dot, paths, or one RE2-subset pattern for the path. */
  value: z.array(z.string()).min(1),
  cacheTime: Seconds.describe('0: never cache what matches'),
  honourOrigin: z.boolean().describe("the origin's own freshness wins where it states one"),
  query: z.enum(['all', 'none', 'listed', 'sorted']),
  queryNames: z.array(z.string()),
  // Unset options are omitted.
  minTime: Seconds.optional().describe("of the origin's own time, where it is honoured"),
  maxTime: Seconds.optional(),
  browserTime: Seconds.optional().describe("lifetime in browsers, instead of the origin's"),
  staleWhileRevalidate: Seconds.optional(),
  staleIfError: Seconds.optional(),
  cookies: z.enum(['all', 'listed']).optional().describe('part of the cache key'),
  cookieNames: z.array(z.string()).optional(),
  passCookies: z.array(z.string()).optional().describe('names or, ending in *, how they begin'),
  stripCookies: z.boolean().optional(),
  slices: z.boolean().optional(),
  overrideOrigin: z.boolean().optional().describe("stores what the origin's private, no-store or Set-Cookie forbids"),
});

/** The paths of a rule, as in CacheRuleDoc. `all` has no values. */
const PathsDoc = { type: z.enum(['all', 'fileType', 'url', 'prefix', 'regex']), value: z.array(z.string()) };

/** The first rule whose paths match decides. */
export const AntiRefererDoc = z.object({
  id: Id,
  ...PathsDoc,
  isBlack: z.boolean(),
  /** Host names. `*.` stands for one label, `**.` for one or more. */
  referers: z.array(z.string()),
  allowEmpty: z.boolean(),
  /** Replaces 403. The target itself is allowed. */
  redirect: z.object({ url: z.string(), host: z.string(), path: z.string() }).optional(),
});

/** The first matching rule refuses the request. */
export const AntiHeaderDoc = z.object({
  id: Id,
  name: z.string().describe('lower case'),
  operator: z.enum(['equal', 'notEqual', 'contains', 'startsWith', 'matches', 'exists', 'absent']),
  value: z.string(),
  action: z.enum(['deny', 'drop']).describe('403, or no answer at all'),
});

/** A bandwidth limit. The first rule whose paths match decides. */
export const RateDoc = z.object({
  id: Id,
  ...PathsDoc,
  rate: z.int().min(1).describe('KiB per second'),
  after: Count.describe('KiB that come at full speed first'),
});

const limitDoc = {
  id: Id,
  urlRegex: z.string().describe('over the path; empty: all'),
  type: z.literal([1, 2, 3, 4]).describe('counts by address, address and path, address and user agent, or `header`'),
  header: z.string().describe('the name of a header, cookie:NAME, or arg:NAME'),
  status: z.literal([429, 929]),
  monitor: z.boolean(),
};
/** All matching rules count. The first that is exceeded refuses the request. */
export const FrequencyDoc = z.object({ ...limitDoc, seconds: z.int().min(1), times: z.int().min(1) });
/** As FrequencyDoc. `rate`: requests per second. `queue`: requests of the burst are delayed. */
export const LimitReqDoc = z.object({ ...limitDoc, rate: z.int().min(1), burst: Count, queue: z.boolean() });
/** As FrequencyDoc. `max`: requests that the node answers at the same time. */
export const LimitConnDoc = z.object({ ...limitDoc, type: z.literal([1, 4]), max: z.int().min(1) });
/** The first matching rule applies. `mode` 0 exempts. `ends`: in seconds. */
export const SiteAntiCCDoc = z.object({
  id: Id,
  urlRegex: z.string(),
  header: z.string(),
  headerValue: z.string(),
  mode: z.int(),
  frequency: Count,
  seconds: z.int().min(1),
  siteRate: Count,
  errorPercent: Count,
  originMs: Count,
  raiseMinutes: z.int().min(1),
  difficulty: z.int().min(1).max(5),
  passSeconds: z.int().min(1),
  monitor: z.boolean(),
  ends: z.int().optional(),
});
/** A list of addresses, by the document `list/<id>`. */
const ListRefDoc = z.object({
  id: Id,
  isBlack: z.boolean(),
  /** Absent: all. */
  urls: z.array(z.object({ host: z.string().optional(), path: z.string(), prefix: z.boolean() })).optional(),
  methods: z.array(z.string()).optional(),
  monitor: z.boolean().optional(),
});
/** 0: refused. 1 to 4: a challenge. */
const Reaction = { id: Id, url: z.string().optional(), blockType: z.int(), monitor: z.boolean().optional() };
const GeoDoc = z.object({
  ...Reaction,
  isBlack: z.boolean(),
  continents: z.array(z.string()),
  countries: z.array(z.string()),
  provinces: z.array(z.string()),
});
const UserAgentDoc = z.object({ ...Reaction, pattern: z.string() });
const CrawlerDoc = z.object({
  id: Id,
  category: z.string(),
  action: z.enum(['limit', 'challenge', 'pay', 'block']),
  perMinute: z.int().min(1).optional().describe('With limit'),
  monitor: z.boolean().optional(),
});

/**
 * Ranges of addresses in ascending order, without overlaps: base64 of their bytes in network order. `until`: base64 of
 * 32-bit little-endian seconds, 0 for ever; absent: all for ever.
 */
const RangesDoc = z.object({ first: z.string(), last: z.string(), until: z.string().optional() });
export const ListDoc = z.object({ kind: z.literal('list'), id: Id, four: RangesDoc, six: RangesDoc });

/** The geo pack: `geo` names its version and parts, which are `geo.<n>`. */
export const PackDoc = z.object({
  kind: z.literal('pack'),
  id: z.string().regex(/^geo(?:\.\d{1,2})?$/),
  version: z.string(),
  parts: Count.optional(),
  data: z.string().optional(),
});

/** Replaces responses with this code. */
export const ErrorPageDoc = z.object({
  code: z.int(),
  html: z.string().optional(),
  csp: z.string().optional().describe('Content-Security-Policy of the page'),
  /** Leaves an origin's errors as they are. */
  edgeOnly: z.literal(true).optional(),
  /** The target itself is not redirected again. */
  redirect: z.object({ url: z.string(), host: z.string(), path: z.string() }).optional(),
});

/** Pages of the operator, for all sites of the zone that have none of their own for a code. */
export const ErrorPagesDoc = z.object({ kind: z.literal('errorPages'), pages: z.array(ErrorPageDoc) });

/** Subscribed lists of the zone, white lists first. */
export const ZoneListsDoc = z.object({ kind: z.literal('zoneLists'), lists: z.array(ListRefDoc) });

/** Settings of all names of a site. `cacheVersion` is part of every cache key: raising it purges the site. */
export const SiteDoc = z.object({
  kind: z.literal('site'),
  id: Id,
  status: SiteStatus,
  cacheVersion: Count,
  /** In order of evaluation, without disabled rules. The first match wins. */
  cacheRules: z.array(CacheRuleDoc),
  /** How long a stored response may replace a failing origin that states no stale-if-error. */
  staleIfError: Seconds,
  /** Compression of uncompressed origin responses. Absent: none. */
  compression: z
    .object({ gzip: z.boolean(), brotli: z.boolean(), types: z.array(z.string()), minBytes: Count })
    .optional(),
  /** Image types that are served as WebP where accepted. Absent: none. */
  webp: z.object({ quality: z.int(), types: z.array(z.string()), minBytes: Count, maxBytes: Count }).optional(),
  /** Without a stated lifetime, use a tenth of the time since Last-Modified. */
  heuristics: z.boolean().optional(),
  /** False: a rule by extension stores any content type. Absent: only types that fit the extension. */
  checkContentType: z.boolean().optional(),
  /** Set-Cookie of responses with a lifetime of the origin. Absent: not stored. */
  setCookie: z.enum(['strip', 'keep']).optional(),
  /** Visitors' Cache-Control is honoured. */
  honourVisitors: z.boolean().optional(),
  /** A POST's response that names its own URL and a lifetime is stored for later GETs. */
  storePost: z.boolean().optional(),
  /** Additional request fields, in lower case, that are sent to the origin and part of the key. */
  passHeaders: z.array(z.string()).optional(),
  /** Misses go to a relay of the zone, if there is one. */
  shield: z.boolean().optional(),
  /** Ports of the zone that the site uses, besides 80 and 443. Absent: all. */
  ports: z.array(Port).optional(),
  antiHeaders: z.array(AntiHeaderDoc).optional(),
  rates: z.array(RateDoc).optional(),
  errorPages: z.array(ErrorPageDoc).optional(),
  frequencies: z.array(FrequencyDoc).optional(),
  limitReqs: z.array(LimitReqDoc).optional(),
  limitConns: z.array(LimitConnDoc).optional(),
  /** Requests of the site that a node answers at the same time. Absent: unlimited. */
  maxConnections: z.int().min(1).optional(),
  /** Bytes per second of each response. Absent: unlimited. */
  responseRate: z.int().min(1).optional(),
  antiCCs: z.array(SiteAntiCCDoc).optional(),
  /** White lists first. */
  lists: z.array(ListRefDoc).optional(),
  abuseIP: z.object({ id: Id, score: z.int(), monitor: z.boolean().optional() }).optional(),
  geos: z.array(GeoDoc).optional(),
  userAgents: z.array(UserAgentDoc).optional(),
  crawlers: z.array(CrawlerDoc).optional(),
  /** The robots.txt that is served. Absent: the origin's. */
  robots: z.string().optional(),
  /** Parts that the access log omits: the last part of addresses, queries. Absent: nothing. */
  logMask: z.enum(['address', 'query', 'both']).optional(),
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
  /** Absent: the zone's requirements only. */
  https: z
    .object({
      force: z.boolean().describe('send visitors by HTTP to HTTPS'),
      hsts: z.string().nullable().describe('Strict-Transport-Security of every answer by HTTPS'),
      minTLS: z.enum(['TLSv1.2', 'TLSv1.3']),
    })
    .optional(),
  antiReferers: z.array(AntiRefererDoc).optional(),
  /** Evaluated after those of the site. */
  antiHeaders: z.array(AntiHeaderDoc).optional(),
  modules: HostModules.optional(),
  origin: z.object({
    scheme: z.enum(['http', 'https', 'follow']),
    /** With `follow`: the origin's port by the visitor's port. */
    portMap: z.array(z.object({ from: Port, to: Port })),
    host: z.string().nullable().describe("Host field sent to the origin; null: the visitor's"),
    sni: z.string().nullable().describe('null: as host, without its port'),
    verify: z.boolean().optional().describe('its certificate must be valid for that name'),
    /** The client certificate for HTTPS origins. Absent: none. */
    certID: Id.optional(),
    slowStartSeconds: z.int().min(0).max(3600).optional(),
    /** The agent's health checks. Absent: none. */
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
  /** One per key type (RSA, ECDSA). */
  pairs: z.array(z.object({ chainPem: z.string(), key: Sealed.describe('of the PEM private key') })).min(1),
});

/** An ACME http-01 challenge. */
export const AcmeDoc = z.object({
  kind: z.literal('acme'),
  token: z.string(),
  /** Served for this name only, while this site serves it. */
  name: z.string(),
  siteID: Id,
  keyAuthorization: z.string(),
});

/**
 * A layer-4 forward: structure, for the second nginx. Rules that are disabled or whose site is out of service have no
 * document.
 */
export const PortDoc = z.object({
  kind: z.literal('port'),
  id: Id,
  siteID: Id,
  port: Port,
  protocol: z.enum(['tcp', 'udp']),
  acceptProxy: z.boolean().describe('visitors come with the PROXY protocol, version 1 or 2; TCP only'),
  sendProxy: z.boolean().describe("origins receive the visitor's address by the PROXY protocol, version 1; TCP only"),
  method: z.enum(['roundRobin', 'addressHash', 'leastConnections']),
  maxFails: z.int().min(0).max(100).describe('0: never rest an origin'),
  failTimeoutSeconds: z.int().min(1).max(3600),
  connectTimeoutSeconds: z.int().min(1).max(3600),
  idleTimeoutSeconds: z.int().min(1).max(86_400).describe('of silence in both directions, until it is closed'),
  maskAddress: z.boolean().optional().describe("the log has the visitor's network only; absent: the address"),
  allow: z.array(z.string()).optional().describe('networks that are let in, whatever `deny` says'),
  deny: z.array(z.string()).optional().describe('networks whose connections are refused'),
  limitConn: z
    .int()
    .min(1)
    .optional()
    .describe('open connections of one visitor with TCP; absent: no limit of its own'),
  upstreams: z.array(UpstreamDoc).min(1).describe('enabled ones only'),
});

/** Settings of one node. */
export const NodeDoc = z.object({
  kind: z.literal('node'),
  id: Id,
  enabled: z.boolean(),
  cacheMaxBytes: Count.describe("0: the zone's value"),
  // Unset options are omitted.
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
export type ErrorPagesDoc = z.output<typeof ErrorPagesDoc>;
export type ZoneListsDoc = z.output<typeof ZoneListsDoc>;
export type RateDoc = z.output<typeof RateDoc>;
export type AntiHeaderDoc = z.output<typeof AntiHeaderDoc>;
export type ListDoc = z.output<typeof ListDoc>;
export type PackDoc = z.output<typeof PackDoc>;
export type EdgeDoc =
  | ZoneDoc
  | TrialDoc
  | ErrorPagesDoc
  | ZoneListsDoc
  | SiteDoc
  | HostDoc
  | CertDoc
  | AcmeDoc
  | PortDoc
  | ModuleDoc
  | NodeDoc
  | ListDoc
  | PackDoc;

const kinds = {
  zone: ZoneDoc,
  trial: TrialDoc,
  errorPages: ErrorPagesDoc,
  zoneLists: ZoneListsDoc,
  site: SiteDoc,
  host: HostDoc,
  cert: CertDoc,
  acme: AcmeDoc,
  port: PortDoc,
  module: ModuleDoc,
  node: NodeDoc,
  list: ListDoc,
  pack: PackDoc,
};
const Kind = z.literal([
  'zone',
  'trial',
  'errorPages',
  'zoneLists',
  'site',
  'host',
  'cert',
  'acme',
  'port',
  'module',
  'node',
  'list',
  'pack',
]);
const kindOf = (key: string) => key.split('/', 1)[0] ?? '';
const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const keyPattern = new RegExp(
  `^(?:zone|trial|errorPages|zoneLists|(?:site|cert|port|module|node|list)/${uuid}|pack/geo(?:\\.\\d{1,2})?|acme/[A-Za-z0-9_-]{16,128}|host/(?:\\*\\.)?[a-z0-9_-]+(?:\\.[a-z0-9_-]+)+)$`,
);
/** Names of later kinds. The agent's manifest and OCSP responses are stored beside documents. */
const laterKeyPattern = /^(?!(?:manifest|ocsp)(?:\/|$))[a-z][A-Za-z]{0,31}(?:\/[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)?$/;

/** Whether the node serves a layer now. */
export const servesLayer = (node: NodeDoc | null, layer: '7' | '4', now: Date) => {
  if (node === null) return true;
  const isOn = node.enabled || (node.drainUntil !== undefined && new Date(node.drainUntil) > now);
  // A relay has no visitors, and so no forwards.
  return isOn && (node.relayPort === undefined ? (node.portType ?? layer) === layer : layer === '7');
};

/**
 * `zone`, `trial`, `errorPages`, `zoneLists`, `site/<id>`, `host/<name>`, `cert/<id>`, `acme/<token>`, `port/<id>`,
 * `module/<id>`, `node/<id>`, `list/<id>`, `pack/geo`, `pack/geo.<n>`, and `<kind>` or `<kind>/<name>` of later
 * versions. Every key is a safe file path.
 */
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
export const listKey = (id: string) => `list/${id}`;
export const nodeKey = (id: string) => `node/${id}`;

/** The zone's document for this node: the trial's while the node takes part in one. */
export const zoneFor = (nodeID: string, zone: ZoneDoc, trial: TrialDoc | null): ZoneDoc =>
  trial?.nodes.includes(nodeID) === true && trial.zone.id === zone.id ? trial.zone : zone;

export function keyOf(doc: EdgeDoc): string {
  if (doc.kind === 'zone' || doc.kind === 'trial' || doc.kind === 'errorPages' || doc.kind === 'zoneLists')
    return doc.kind;
  if (doc.kind === 'host') return hostKey(doc.name);
  return doc.kind === 'acme' ? acmeKey(doc.token) : `${doc.kind}/${doc.id}`;
}

/** Parses a document. Throws when it is invalid. */
export function parseDoc(key: string, body: string): EdgeDoc {
  const schema = kinds[Kind.parse(kindOf(DocKey.parse(key)))];
  const doc = schema.parse(JSON.parse(body));
  const own = keyOf(doc);
  if (own !== key) throw new Error(`the document of ${key} says it is ${own}`);
  return doc;
}

/**
 * `later`: for a later version, only stored. `closed`: the same, and its subject must not be served, because these
 * capabilities are missing.
 */
export type CheckedDoc = { doc: EdgeDoc } | { later: true } | { closed: string[] };

const Insistent = z.looseObject({ needs: Needs, module: z.string().min(1).optional() });
const knownModules = Object.keys(HostModules.shape);

/** Checks a document of any version for a node of this version. Throws when it is invalid. */
export function checkDoc(key: string, body: string): CheckedDoc {
  const kind = kindOf(DocKey.parse(key));
  const { needs = [], module } = Insistent.parse(JSON.parse(body));
  const lacked = needs.filter((need) => !supportedNeeds.includes(need));
  if (lacked.length > 0) return { closed: lacked };
  const isLater =
    !Kind.safeParse(kind).success || (kind === 'module' && module !== undefined && !knownModules.includes(module));
  return isLater ? { later: true } : { doc: parseDoc(key, body) };
}

/** The capabilities that this document requires: its access restrictions. */
export function needsOf({
  antiHeaders,
  antiReferers,
  modules,
  ...site
}: Pick<Partial<HostDoc>, 'antiHeaders' | 'antiReferers' | 'modules'> &
  Pick<SiteDoc, 'lists' | 'abuseIP' | 'geos' | 'userAgents'>): { needs?: string[] } {
  const needs = [
    ...(site.lists || site.abuseIP || site.geos || site.userAgents ? ['siteFirewall'] : []),
    ...(antiHeaders ? ['antiHeader'] : []),
    ...(antiReferers ? ['antiReferer'] : []),
    ...(modules?.tokenAuth ? ['tokenAuth'] : []),
    ...(modules?.acl ? ['acl'] : []),
    ...(modules?.luaAcl ? ['luaAcl'] : []),
    ...(modules?.waf ? ['waf'] : []),
  ];
  return needs.length > 0 ? { needs } : {};
}
