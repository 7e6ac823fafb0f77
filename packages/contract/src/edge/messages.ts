// Messages between control plane and nodes over NATS. All are JSON. Either side may be a version ahead: unknown fields
// are ignored, and an unknown enum value loses that value only.
import * as z from 'zod';
import { Id, Port } from '../common/common.ts';
import { isNetwork } from '../ipset/network.ts';
import { DocKey } from './documents.ts';
import { KeyID, ZoneKeys } from './sealed.ts';
import { REPLAY_PAGE, Replayed, Simulated } from './simulated.ts';

/** A database integer: a larger value would fail the whole statement that stores it. */
const Revision = z.int().min(0).max(2_147_483_647);
const Hash = z.string().regex(/^[0-9a-f]{64}$/);

/** One document. `body` null: removed. The hash covers the body's UTF-8 bytes ('' when removed). */
export const DocEntry = z.object({
  key: DocKey,
  revision: Revision,
  sha256: Hash,
  body: z.string().nullable(),
});

/**
 * On edge.zone.<zone>.doc: the documents that a publish changed, in order of revision. `previous` is the zone's
 * revision before them. `docs` is empty when they are too large to push, and nodes then request them. `digest` covers
 * the zone's documents at `revision`, without those of single nodes: a node with another digest has a history that a
 * restored database lacks. Without documents and with `previous` equal to `revision` it only announces the revision.
 */
export const DocPush = z.object({
  schema: z.int(),
  zone: Id,
  previous: Revision,
  revision: Revision,
  digest: Hash.optional().catch(undefined),
  docs: z.array(DocEntry),
});

/**
 * rpc.<node>.sync: everything that changed after `revision`. Repeated with each page's revision, and with `full` if the
 * reply had it, until `more` is false. `full` distinguishes a page of a full sync from a node that is too old.
 */
export const SyncRequest = z.object({ revision: Revision, full: z.boolean() });
export const SyncReply = z.object({
  schema: z.int(),
  /**
   * Removals are unknown (the node's revision is 0, too old, or from a history undone by a restore): the sync sends
   * everything, and the node drops what was not sent.
   */
  full: z.boolean(),
  docs: z.array(DocEntry),
  /** The node's revision after it has applied this page. */
  revision: Revision,
  more: z.boolean(),
});

/** On up.<node>.ack, after each attempt to apply. */
export const Ack = z.object({
  revision: Revision.describe('what the node has reached, rejected documents included'),
  state: z.enum(['applied', 'rejected']).catch('rejected'),
  /** All currently rejected documents, here and in heartbeats. Their predecessors keep serving. */
  rejected: z.array(z.object({ key: z.string(), revision: Revision, error: z.string() })),
  tookMs: z.number(),
});

const Rate = z.number().min(0);
const Tally = z.object({ packets: z.int().min(0), bytes: z.int().min(0), perSecond: Rate.describe('Packets, lately') });
/**
 * Packets dropped by the kernel: from the block set, the block list, by risk score, and for too many new connections.
 */
export const Dropped = z.object({
  since: z.iso.datetime().describe('Counted from the start of the agent'),
  blocked: Tally,
  blacklist: Tally,
  risk: Tally,
  syn: Tally,
});

/** Load of a machine: bytes, bits per second, and the busy share of processors. */
export const NodeLoad = z.object({
  cpu: z.number().min(0).max(1),
  memoryUsed: z.number().min(0),
  memoryTotal: z.number().min(0),
  diskUsed: z.number().min(0).describe("Where the node's directory lies"),
  diskTotal: z.number().min(0),
  cacheDiskFull: z.boolean().optional().describe('The disk of its cache is full: responses pass unstored'),
  logs: z
    .object({
      waitingBytes: z.number().min(0).describe('Access log that was not sent yet'),
      droppedLines: z.number().min(0).describe('Deleted unsent, because there was no room; since the agent started'),
    })
    .optional(),
  received: z.number().min(0),
  sent: z.number().min(0),
  connections: z.number().min(0).describe('Of visitors'),
  dropped: Dropped.nullable().optional().describe('null: its kernel drops nobody'),
});

/** The same, with everything that a page about the machine shows. */
export const NodeFigures = NodeLoad.extend({
  at: z.iso.datetime(),
  cores: z.int(),
  loadAverages: z.array(Rate).max(3),
  uptimeSeconds: Rate,
  system: z.string().max(256).describe('Distribution and kernel'),
  reading: Rate.describe('Connections that send their request'),
  writing: Rate.describe('Connections that are answered'),
  waiting: Rate.describe('Open connections without a request'),
  established: Rate.describe('TCP connections of the machine'),
  timeWait: Rate,
  interfaces: z.array(z.object({ name: z.string().max(64), received: Rate, sent: Rate })).max(64),
});

/** A file of nginx's configuration. */
export const RunningFile = z.object({ path: z.string().max(256), bytes: z.int(), sha256: Hash });
export const RunningTree = z.object({
  generation: z.int().nullable(),
  documents: z.int(),
  files: z.array(RunningFile).max(1000),
});

/** Versions of packs in use, by name. */
export const Packs = z
  .record(z.string().max(32), z.string().max(64))
  .refine((packs) => Object.keys(packs).length <= 32, 'at most 32 packs');

const HeldKeys = z.array(KeyID).max(8).optional().catch(undefined);

/** `unresponsive`: nginx or some of its workers do not respond. */
export const NginxState = z.enum(['running', 'stopped', 'rolledBack', 'unresponsive']);

/** A tenant's pattern that nginx cannot compile. Its rule matches nothing. */
export const FailingPattern = z.object({
  site: z.string().max(64),
  rule: z.string().max(64).describe('Of a module its id; empty where it is not known'),
  error: z.string().max(2000),
});

/** On up.<node>.heartbeat, on connecting and every 30 s. The reply contains the node's expected state. */
export const Heartbeat = z.object({
  revision: Revision,
  /** Over all its documents: the zone's, and its own node document. */
  digest: Hash,
  version: z.string(),
  startedAt: z.iso.datetime(),
  nginx: NginxState.nullable().catch(null).describe('null: in a way of a later version'),
  error: z.string().nullable(),
  rejected: z.array(z.object({ key: z.string(), revision: Revision, error: z.string() })),
  capabilities: z.array(z.string()),
  clock: z.iso.datetime().optional().catch(undefined).describe('What time it is there'),
  load: NodeLoad.optional().catch(undefined),
  release: Hash.nullable()
    .optional()
    .catch(undefined)
    .describe('SHA-256 of the archive that the agent came in; null: of none'),
  packs: Packs.optional().catch(undefined),
  patterns: z.array(FailingPattern).max(20).optional().catch(undefined).describe('Of the last hour'),
  keys: HeldKeys.describe('of the zone, that it holds; absent: of a version that holds one and can take no other'),
});
export const HeartbeatReply = z.object({ revision: Revision, digest: Hash, keys: HeldKeys });

/**
 * rpc.<node>.keys: requests the zone's keys. `box` is an X25519 public key for this request (DER, base64), `signature`
 * the node's over it (key-box.ts), so that an untrusted bus can neither forge the request nor read the reply.
 */
export const KeysRequest = z.object({ box: z.base64().max(100), signature: z.base64().max(100) });
/** Encrypted for that key and signed by the account that issued the node's credentials. */
export const KeysReply = z.object({
  box: z.base64().max(100),
  iv: z.base64(),
  data: z.base64(),
  tag: z.base64(),
  signature: z.base64().max(100),
});

/** Replaces any reply: the request was invalid or cannot be handled now. */
export const Refused = z.object({
  refused: z.string(),
  unknown: z.boolean().optional().describe('Nothing of that name is known: asking again is of no use'),
});

/** An upper bound, so that sums of a hostile node's values stay representable. */
const Visits = z.int().min(0).max(1_000_000_000);
/**
 * Traffic metrics during rollouts. Counters start at an agent's first reply. A lower value means that another agent has
 * started.
 */
export const NodeGauges = z.object({
  at: z.iso.datetime(),
  dropped: z
    .int()
    .min(0)
    .optional()
    .describe('Packets to the ports of the zone that the kernel dropped since the node started'),
  p99Ms: z.number().min(0).nullable().describe('Of the last seconds; null: no requests'),
  nginx: NginxState,
  error: z.string().nullable(),
  since: z
    .object({
      requests: Visits,
      serverErrors: Visits.describe('Responses from 500 to 599'),
      refused: Visits.describe('Requests that the node itself refused: 403 by a rule, 444, 929, 978'),
      slow: Visits,
      sites: z
        .array(z.tuple([Id, Visits, Visits, Visits, Visits]))
        .max(1000)
        .describe('The same four counts of the sites with the most errors, refusals and slow responses'),
    })
    .optional()
    .describe('Requests to sites of this node since the previous reply'),
});

/** On up.<node>.origins: results of health checks, when they change and once a minute. */
export const OriginReport = z.object({
  origins: z
    .array(
      z.object({
        upstreamID: Id,
        isUp: z.boolean(),
        reason: z.string().max(1000).nullable(),
        tookMs: z.int().min(0).max(2_147_483_647),
      }),
    )
    .min(1)
    .max(1000),
});

/** On up.<node>.cached: cached sizes per site from a scan. A site that left the cache is reported once as empty. */
export const CachedReport = z.object({
  measuredAt: z.iso.datetime(),
  sites: z
    .array(
      z.object({
        siteID: Id,
        objects: z.int().min(0).max(2_147_483_647),
        bytes: z.int().min(0),
      }),
    )
    .min(1)
    .max(1000),
});

/** Revision of a block set. Rises with each change. */
const SetRevision = z.int().min(0);
const Blocked = z.object({
  network: z.string().refine(isNetwork),
  cause: z.string().regex(/^[a-zA-Z0-9]{1,32}$/),
  seconds: z
    .int()
    .min(0)
    .max(2_592_000)
    .describe('From now on; so nobody has to have our clock. 0: it is blocked no more'),
});

const Rule = z.string().max(64).optional().describe('Id of the rule');
/** Blocked for this site only. A separate field, because earlier agents would block it for the whole zone. */
const BlockedAtSite = Blocked.extend({ siteID: Id });

/** On up.<node>.blocks: blocks found by this node, each second, and every 30 s its revision of the set. */
export const BlockReport = z.object({
  revision: SetRevision,
  size: z.int().min(0).max(2_147_483_647),
  blocks: z.array(Blocked.extend({ siteID: Id.nullable(), rule: Rule })).max(1000),
  sites: z
    .array(BlockedAtSite.extend({ rule: Rule }))
    .max(1000)
    .optional(),
  dropped: z
    .int()
    .min(0)
    .max(1_000_000_000)
    .describe('For which there was no room, since the last report that was answered'),
  fault: z.string().max(300).describe('Why its kernel drops nobody; empty: it does'),
});
/** `refused`: addresses that must never be blocked. */
export const BlockReply = z.object({
  revision: SetRevision,
  refused: z.array(z.string()),
  refusedSites: z.array(z.object({ network: z.string(), siteID: z.string() })).optional(),
});

/** On edge.zone.<zone>.blocks: changes after `previous`. Nodes with less request them. */
export const BlockPush = z.object({
  zone: Id,
  previous: SetRevision,
  revision: SetRevision,
  blocks: z.array(Blocked),
  sites: z.array(BlockedAtSite).optional(),
});
/** rpc.<node>.blocks: changes after `revision`, in pages. Repeated until `more` is false. */
export const BlocksRequest = z.object({ revision: SetRevision });
export const BlocksReply = z.object({
  whole: z
    .boolean()
    .describe('The set begins anew with this page: what the node has and is not sent is blocked no more'),
  blocks: z.array(Blocked),
  sites: z.array(BlockedAtSite).optional(),
  revision: SetRevision,
  more: z.boolean(),
});

/** The objects to purge: URLs, or of one site by prefix (host and pathKey, '' for all) or by tag. */
export const PurgeOrder = z.object({
  urls: z.array(z.string()).max(1000).optional(),
  site: Id.optional(),
  prefixes: z.array(z.string()).max(1000).optional(),
  tags: z.array(z.string()).max(1000).optional(),
  soft: z.boolean().optional().describe('stays stored as stale, and is revalidated with the next request'),
});
/** cmd.<node>.purge. Idempotent. */
export const PurgeCommand = PurgeOrder.extend({ id: Id, deadline: z.iso.datetime() });
/** cmd.<node>.preheat: fetch these URLs into the cache. The reply counts the fetched ones. */
export const PreheatCommand = z.object({
  id: Id,
  deadline: z.iso.datetime(),
  urls: z.array(z.string().max(16_384)).min(1).max(100),
});
/** cmd.<node>.warm: ensure that these URLs are cached. The reply reports each, in order. */
export const Warmed = z.object({
  state: z.enum(['stored', 'notStored', 'failed']).catch('failed'),
  fault: z.string().max(500).nullable(),
  /** Remaining freshness. Null: unknown. */
  freshSeconds: z.number().nullable(),
});
/** cmd.<node>.heldPorts: which of these ports are held by another program? */
export const HeldPortsCommand = z.object({
  id: Id,
  deadline: z.iso.datetime(),
  ports: z
    .array(z.object({ port: Port, tls: z.boolean() }))
    .min(1)
    .max(100),
});
/** cmd.<node>.resync: run a full sync. */
export const ResyncCommand = z.object({ id: Id, deadline: z.iso.datetime() });
/** cmd.<node>.{reset,rotateLogs,reboot,system,running,zoneKeys}: commands without parameters. */
export const Command = z.object({ id: Id, deadline: z.iso.datetime() });
/** cmd.<node>.gauges: responses slower than this count as slow. */
export const GaugesCommand = Command.extend({ slowMs: z.number().min(0).optional() });
/** cmd.<node>.clearCache: objects of all sites with one of these tags. Without tags: everything. */
export const ClearCommand = Command.extend({ tags: z.array(z.string()).max(100).optional() });
/** cmd.<node>.move: join another zone with this token and discard the former one. */
export const MoveCommand = Command.extend({ control: z.url(), token: z.string().min(20).max(200) });
export const CommandReply = z.object({
  id: Id,
  ok: z.boolean(),
  error: z.string().nullable(),
  tookMs: z.number(),
  objects: z.int(),
  unknown: z.boolean().optional().describe('The agent does not know this command'),
  late: z.boolean().optional().describe('It arrived after its deadline, by the clock of the node'),
  figures: NodeFigures.optional(),
  running: RunningTree.optional(),
  gauges: NodeGauges.optional(),
  simulated: Simulated.optional(),
  replayed: z.array(Replayed.nullable()).max(REPLAY_PAGE).optional().describe('In order. Null: it failed'),
  warmed: z.array(Warmed).max(100).optional(),
  held: z.array(Port).max(100).optional(),
});

/** POST /api/v1/node/join */
export const JoinRequest = z.object({
  token: z.string().min(20).max(200),
  publicKey: z
    .string()
    .regex(/^U[A-Z2-7]{55}$/)
    .describe('NKey of a user, made on the node; its seed never leaves it'),
  version: z.string().max(64),
  keyRing: z.boolean().optional().describe('It can hold several keys of its zone'),
});
export const JoinReply = z.object({
  nodeID: Id,
  zoneID: Id,
  natsServers: z.array(z.string()),
  jwt: z.string(),
  zoneKey: z.base64().describe('32 bytes; unseals private keys in documents'),
  zoneKeys: ZoneKeys.optional().describe('That key and, while the zone changes its key, the other one'),
});

export type NginxState = z.output<typeof NginxState>;
export type DocEntry = z.output<typeof DocEntry>;
export type DocPush = z.output<typeof DocPush>;
export type SyncRequest = z.output<typeof SyncRequest>;
export type SyncReply = z.output<typeof SyncReply>;
export type Ack = z.output<typeof Ack>;
export type Heartbeat = z.output<typeof Heartbeat>;
export type Refused = z.output<typeof Refused>;
export type KeysRequest = z.output<typeof KeysRequest>;
export type KeysReply = z.output<typeof KeysReply>;
export type HeartbeatReply = z.output<typeof HeartbeatReply>;
export type OriginReport = z.output<typeof OriginReport>;
export type CachedReport = z.output<typeof CachedReport>;
export type BlockReport = z.output<typeof BlockReport>;
export type BlockReply = z.output<typeof BlockReply>;
export type BlockPush = z.output<typeof BlockPush>;
export type BlocksReply = z.output<typeof BlocksReply>;
export type PurgeOrder = z.output<typeof PurgeOrder>;
export type PurgeCommand = z.output<typeof PurgeCommand>;
export type PreheatCommand = z.output<typeof PreheatCommand>;
export type Warmed = z.output<typeof Warmed>;
export type ResyncCommand = z.output<typeof ResyncCommand>;
export type Dropped = z.output<typeof Dropped>;
export type NodeLoad = z.output<typeof NodeLoad>;
export type NodeFigures = z.output<typeof NodeFigures>;
export type RunningTree = z.output<typeof RunningTree>;
export type NodeGauges = z.output<typeof NodeGauges>;
export type MoveCommand = z.output<typeof MoveCommand>;
export type CommandReply = z.output<typeof CommandReply>;
export type JoinRequest = z.output<typeof JoinRequest>;
export type JoinReply = z.output<typeof JoinReply>;
