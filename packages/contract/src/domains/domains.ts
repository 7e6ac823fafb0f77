import * as z from 'zod';
import { Id, Ids, Port, Tags, Text, Time } from '../common/common.ts';
import { canonicalNetwork } from '../common/address.ts';
import { asciiName, DomainNameInput, HostAddress, HostHeader } from '../common/net.ts';

/** All origins of a domain use one protocol, because a retry at the next origin cannot change it. */
export const OriginScheme = z.enum(['http', 'https', 'follow']);
export const HashType = z.enum(['roundRobin', 'addressHash', 'uriHash', 'leastConnections']);
export const CnameStatus = z.enum(['pendingCheck', 'active', 'inactive']);
export const CertStatus = z.enum(['none', 'processing', 'success', 'fail']);

export const UpstreamInput = z.object({
  address: HostAddress.describe('IPv4, IPv6 or a name'),
  port: Port.default(80),
  weight: z.int().min(1).max(100).default(10),
  backup: z.boolean().default(false).describe('Asked only when no main origin is left'),
  enabled: z.boolean().default(true),
});
export const Upstream = z.object({
  id: Id,
  address: z.string(),
  port: Port,
  weight: z.int(),
  backup: z.boolean(),
  enabled: z.boolean(),
});
const upstreamsOnce = (list: readonly { address: string; port: number }[], ctx: z.RefinementCtx) => {
  const seen = new Set<string>();
  for (const [i, { address, port }] of list.entries()) {
    const pair = `${canonicalNetwork(address)} ${port}`;
    if (seen.has(pair)) ctx.addIssue({ code: 'custom', path: [i, 'address'], message: 'data already exists' });
    seen.add(pair);
  }
};
/** Limit per domain or forward. Each node checks all origins and may try all of them for one request. */
export const UPSTREAMS_AT_MOST = 100;
export const Upstreams = z.array(UpstreamInput).min(1).max(UPSTREAMS_AT_MOST).superRefine(upstreamsOnce);
export const PortMap = z
  .array(z.object({ from: Port, to: Port }))
  .max(100)
  .superRefine((list, ctx) => {
    if (new Set(list.map(({ from }) => from)).size !== list.length)
      ctx.addIssue({ code: 'custom', path: [], message: 'data already exists' });
  });

const Seconds = z.int().min(1).max(3600);
export const Balance = z.object({
  hashType: HashType,
  hostReplace: HostHeader.nullable().describe("Host field sent to the origin; null: the visitor's"),
  sni: HostHeader.nullable().describe('TLS server name sent to the origin; null: as the Host field'),
  maxFails: z.int().min(0).max(100).describe('Failures within the time below that rest an origin; 0: never'),
  failTimeoutSeconds: Seconds,
  connectTimeoutSeconds: Seconds,
  readTimeoutSeconds: Seconds,
  websocketTimeoutSeconds: z
    .int()
    .min(1)
    .max(86_400)
    .describe('A WebSocket is closed after this much silence in both directions'),
});
const YEAR_SECONDS = 31_536_000;
export const MinTls = z.enum(['TLSv1.2', 'TLSv1.3']);
/** HSTS (RFC 6797). Preload lists require at least a year and all subdomains. */
export const Hsts = z
  .object({
    maxAgeSeconds: z
      .int()
      .min(0)
      .max(2 * YEAR_SECONDS)
      .describe('0: browsers discard the policy'),
    includeSubdomains: z.boolean(),
    preload: z.boolean(),
  })
  .superRefine(({ maxAgeSeconds, includeSubdomains, preload }, ctx) => {
    if (preload && !includeSubdomains)
      ctx.addIssue({ code: 'custom', path: ['includeSubdomains'], message: 'required' });
    if (preload && maxAgeSeconds < YEAR_SECONDS)
      ctx.addIssue({ code: 'custom', path: ['maxAgeSeconds'], message: 'preload needs a year' });
  });
const Path = z
  .string()
  .max(1024)
  .regex(/^\/[\x21-\x7e]*$/, { message: 'wrong format' });
/** Active health checks of a domain's origins by each node, in addition to visitors' requests. */
export const HealthCheck = z
  .object({
    path: Path,
    host: HostHeader.nullable().describe('null: as visitors are sent on, or the domain itself'),
    intervalSeconds: z.int().min(1).max(3600),
    timeoutSeconds: z.int().min(1).max(60),
    statusFrom: z.int().min(100).max(599),
    statusTo: z.int().min(100).max(599),
    fails: z.int().min(1).max(10).describe('So many bad answers in a row take it out'),
    passes: z.int().min(1).max(10).describe('So many good ones bring it back'),
  })
  .superRefine(({ statusFrom, statusTo }, ctx) => {
    if (statusFrom > statusTo) ctx.addIssue({ code: 'custom', path: ['statusTo'], message: 'wrong format' });
  });
const SlowStart = z
  .int()
  .min(0)
  .max(3600)
  .describe('An origin that is back reaches its weight after so long; 0: at once');
/** Health over all nodes with a recent check. */
export const OriginHealth = z.object({
  upstreamID: Id,
  up: z.int().describe('Nodes that find it well'),
  down: z.int(),
  reason: z.string().nullable().describe('Why a node finds it down'),
  tookMs: z.int().describe('Until its answer began, over all nodes'),
  seenAt: Time,
});
const OriginTraffic = z.object({
  upstreamID: Id,
  attempts: z.number().describe('How often nodes sent it a request in the last 24 hours'),
  failed: z.number().describe('Attempts without a response, and responses of 5xx'),
});
export const OriginsTraffic = z.object({
  isMeasured: z
    .boolean()
    .describe('False if no node of the zone reported requests, or if the figures of a part of the time are not known'),
  data: z.array(OriginTraffic).describe('Origins that nodes sent requests to'),
});
export const HttpsInput = z
  .object({
    scheme: OriginScheme,
    portMap: PortMap,
    forceSSL: z
      .boolean()
      .optional()
      .describe("Visitors by HTTP are sent to HTTPS, with the zone's redirect code, once the domain has a certificate"),
    hsts: Hsts.nullable().optional().describe('null: no such header. Sent once the domain has a certificate'),
    minTLS: MinTls.optional(),
    originCertificateID: Id.nullable()
      .optional()
      .describe("Of the site's certificates: shown to an HTTPS origin that asks who comes; null: none"),
    originVerify: z.boolean().optional().describe("An HTTPS origin's certificate must be valid for its server name"),
  })
  .superRefine(({ scheme, portMap }, ctx) => {
    if (scheme === 'follow' && portMap.length === 0)
      ctx.addIssue({ code: 'custom', path: ['portMap'], message: 'required' });
  });
export const Scheme = z.object({ scheme: OriginScheme, portMap: z.array(z.object({ from: Port, to: Port })) });

export const DomainInput = z.object({
  name: DomainNameInput,
  tags: Tags.default([]),
  enabled: z.boolean().optional().describe('Left out: as the product says for new domains'),
  upstreams: Upstreams,
  scheme: OriginScheme.default('http'),
  portMap: PortMap.default([]),
  hostReplace: HostHeader.nullable().default(null),
});
/** Pasted names, one per line. Each name is validated on its own. */
const Names = z.array(z.string().trim().toLowerCase().overwrite(asciiName).max(300)).min(1).max(1000);
/** One origin template for many names. */
export const SimpleDomainsInput = z.object({
  names: Names,
  upstreams: Upstreams,
  scheme: OriginScheme.default('http'),
  portMap: PortMap.default([]),
});
export const NamesInput = z.object({ names: Names });
export const DomainRemoval = Ids.extend({
  disable: z.boolean().default(false).describe('true: domains that are on are turned off and removed'),
});
/** Error of a name: the code, and the rule if several errors share the code. */
export const Refusal = z.object({ name: z.string(), code: z.int(), rule: z.string().optional() });
/** `waiting`: names that were added disabled, because they need verification first. */
export const Created = Ids.extend({ waiting: z.array(z.string()) });
/** Probes an origin from the control plane. The result only states whether it responds. */
export const ProbeInput = z.object({
  address: HostAddress,
  port: Port,
  host: HostHeader.nullable().default(null).describe('Asked for; null: the address itself'),
});
export const Probe = z.object({
  reachable: z.boolean(),
  scheme: OriginScheme.extract(['http', 'https']).nullable().describe('How it answered'),
  status: z.int().nullable(),
});
export const CopyInput = Ids.extend({ targetSiteID: Id });
export const CloneInput = NamesInput.extend({ sourceDomainID: Id });
export const AddressSwap = z.object({
  from: HostAddress,
  to: HostAddress,
  ids: Ids.shape.ids.optional().describe("Left out: all of the site's domains"),
});
export const DomainsInput = z.object({ domains: z.array(DomainInput).min(1).max(1000) });
export const DomainUpdate = z.object({
  tags: Tags.optional(),
  slowStartSeconds: SlowStart.optional(),
  healthCheck: HealthCheck.nullable().optional().describe('null: only what visitors meet counts'),
  ...Balance.partial().shape,
});

/** A TXT record that proves a name which overlaps a name of another customer. */
export const NameProof = z.object({
  record: z.string().describe('Name of the TXT record'),
  value: z.string().describe('Text of the record: the same for all names of a customer'),
  state: z.enum(['waiting', 'proven']).describe('proven: the domain can be turned on'),
  outcome: z
    .enum(['missing', 'other', 'silent', 'shown'])
    .nullable()
    .describe('Last look: no TXT record, other TXT records, no name server answered, or the record; null: no look yet'),
  seen: z.array(z.string()).describe('TXT records that were found instead'),
  lookedAt: z.iso.datetime().nullable(),
  nextLookAt: z.iso.datetime().nullable().describe('null: only on demand'),
});

export const Domain = z.object({
  id: Id,
  siteID: Id,
  name: z.string(),
  status: z.union([z.literal(0), z.literal(1)]).describe('1: on'),
  tags: Tags,
  cnameStatus: CnameStatus.describe('pendingCheck: new, and the CNAME record was not found yet'),
  cnameCheckAt: Time.describe('When the CNAME record is looked up next'),
  certStatus: CertStatus,
  certCheckAt: Time.nullable().describe('When an automatic certificate is tried next; null: no attempt is planned'),
  certificateID: Id.nullable().describe('What it is served with over HTTPS'),
  forceSSL: z.boolean(),
  hsts: z.object(Hsts.shape).nullable(),
  minTLS: MinTls,
  originVerify: z.boolean(),
  originCertificateID: Id.nullable(),
  slowStartSeconds: z.int(),
  healthCheck: z.object(HealthCheck.shape).nullable(),
  scheme: OriginScheme,
  portMap: z.array(z.object({ from: Port, to: Port })),
  ...Balance.shape,
  upstreams: z.array(Upstream),
  proof: NameProof.nullable().describe(
    'TXT record that proves the name; null where the name needs no proof, or none was asked for',
  ),
  createdAt: Time,
  updatedAt: Time,
});
export const SimpleDomain = Domain.pick({ id: true, name: true, status: true, cnameStatus: true }).extend({
  cname: z.string().nullable().describe('What it is to point to'),
});
/** `found`: the current target of the name. Null: no target, or the lookup failed. */
export const CnameCheck = Domain.pick({ id: true, name: true, cnameStatus: true }).extend({
  found: z.string().nullable(),
});
export const ProofCheckInput = z.object({ ids: z.array(Id).min(1).max(100) });
/** `proof` as in Domain. */
export const ProofCheck = Domain.pick({ id: true, name: true, proof: true });
/** An origin with the domain it belongs to, for lists over a site. */
export const SiteUpstream = Upstream.extend({ domainID: Id, domainName: z.string() });
/** A domain in a list. */
export const DomainRow = Domain.extend({
  traffic: z
    .int()
    .nullable()
    .describe('Bytes of the last 24 hours; null: not measured, or the account may not read statistics'),
});
/** A domain with the site it belongs to, for lists over many sites. */
export const SiteDomain = DomainRow.extend({ siteName: Text });

export type Domain = z.output<typeof Domain>;
export type DomainInput = z.output<typeof DomainInput>;
export type DomainUpdate = z.output<typeof DomainUpdate>;
export type SimpleDomainsInput = z.output<typeof SimpleDomainsInput>;
export type Upstream = z.output<typeof Upstream>;
export type UpstreamInput = z.output<typeof UpstreamInput>;
export type HealthCheck = z.output<typeof HealthCheck>;
export type OriginHealth = z.output<typeof OriginHealth>;
export type OriginsTraffic = z.output<typeof OriginsTraffic>;
export type Hsts = z.output<typeof Hsts>;
export type HttpsInput = z.output<typeof HttpsInput>;
export type Probe = z.output<typeof Probe>;
export type ProbeInput = z.output<typeof ProbeInput>;
export type AddressSwap = z.output<typeof AddressSwap>;
export type NameProof = z.output<typeof NameProof>;
export type ProofCheck = z.output<typeof ProofCheck>;
export type CnameCheck = z.output<typeof CnameCheck>;
export type SiteUpstream = z.output<typeof SiteUpstream>;
export type Balance = z.output<typeof Balance>;
