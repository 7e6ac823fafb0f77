// What the control plane and the nodes say to each other over NATS. Every message is JSON, and either side may be a version
// ahead: what it does not know of a message it ignores, and a word that is new to it costs that word and not the message.
import * as z from 'zod';
import { Id, Port } from '../common/common.ts';
import { isNetwork } from '../ipset/network.ts';
import { DocKey } from './documents.ts';
import { KeyID, ZoneKeys } from './sealed.ts';
import { Simulated } from './simulated.ts';

/** A database integer: a larger one would fail the statement that stores it, and others' with it. */
const Revision = z.int().min(0).max(2_147_483_647);
const Hash = z.string().regex(/^[0-9a-f]{64}$/);

/** One document as it travels. `body` null: the document is gone. The hash is of the body's UTF-8 bytes ('' when gone). */
export const DocEntry = z.object({
  key: DocKey,
  revision: Revision,
  sha256: Hash,
  body: z.string().nullable(),
});

/** On edge.zone.<zone>.doc: every document a publish changed, in order of revision. `previous` is the zone's revision
 *  before the first of them. `docs` is empty when they are too large to push: then the node asks for them. `digest` is
 *  over the zone's documents at `revision`, those of single nodes excluded. A node that has another digest there followed a
 *  history that a restored database does not have. A push without documents, whose `previous` is its `revision`, only
 *  announces where the zone is. */
export const DocPush = z.object({
  schema: z.int(),
  zone: Id,
  previous: Revision,
  revision: Revision,
  digest: Hash.optional().catch(undefined),
  docs: z.array(DocEntry),
});

/** rpc.<node>.sync: all that changed after `revision`. Asked again with the page's last revision, and with `full` if the
 *  answer said so, until `more` is false. Without that word a page in the middle of a full pass would look like a node
 *  that is too old. */
export const SyncRequest = z.object({ revision: Revision, full: z.boolean() });
export const SyncReply = z.object({
  schema: z.int(),
  /** The node cannot be told what is gone (its revision is 0, too old, or from a future that a backup undid): the pass
   *  starts from nothing, whatever was asked, and what the node has and is not sent, it must drop at its end. */
  full: z.boolean(),
  docs: z.array(DocEntry),
  /** What the node has reached once it has applied this page. */
  revision: Revision,
  more: z.boolean(),
});

/** On up.<node>.ack, after each attempt to apply. */
export const Ack = z.object({
  revision: Revision.describe('what the node has reached, rejected documents included'),
  state: z.enum(['applied', 'rejected']).catch('rejected'),
  /** All that stand rejected now, here and in heartbeats: the document before each still serves. */
  rejected: z.array(z.object({ key: z.string(), revision: Revision, error: z.string() })),
  tookMs: z.number(),
});

const Rate = z.number().min(0);
const Tally = z.object({ packets: z.int().min(0), bytes: z.int().min(0), perSecond: Rate.describe('Packets, lately') });
/** What a kernel kept from nginx: of those in the block set, on the block list, with a risk score, and of addresses that open
 *  connections without end. */
export const Dropped = z.object({
  since: z.iso.datetime().describe('Counted from the start of the agent'),
  blocked: Tally,
  blacklist: Tally,
  risk: Tally,
  syn: Tally,
});

/** How busy a machine is: bytes, bits a second, and of the processors the share that works. */
export const NodeLoad = z.object({
  cpu: z.number().min(0).max(1),
  memoryUsed: z.number().min(0),
  memoryTotal: z.number().min(0),
  diskUsed: z.number().min(0).describe("Where the node's directory lies"),
  diskTotal: z.number().min(0),
  cacheDiskFull: z.boolean().optional().describe('The disk of its cache is full: responses pass unstored'),
  received: z.number().min(0),
  sent: z.number().min(0),
  connections: z.number().min(0).describe('Of visitors'),
  dropped: Dropped.nullable().optional().describe('null: its kernel drops nobody'),
});

/** The same with all that a page about one machine shows. */
export const NodeFigures = NodeLoad.extend({
  at: z.iso.datetime(),
  cores: z.int(),
  loadAverages: z.array(Rate).max(3),
  uptimeSeconds: Rate,
  system: z.string().max(256).describe('Distribution and kernel'),
  reading: Rate.describe('Connections that send their request'),
  writing: Rate.describe('Connections that are answered'),
  waiting: Rate.describe('Connections that are kept open for another request'),
  established: Rate.describe('TCP connections of the machine'),
  timeWait: Rate,
  interfaces: z.array(z.object({ name: z.string().max(64), received: Rate, sent: Rate })).max(64),
});

/** A file of what nginx runs. */
export const RunningFile = z.object({ path: z.string().max(256), bytes: z.int(), sha256: Hash });
export const RunningTree = z.object({
  generation: z.int().nullable(),
  documents: z.int(),
  files: z.array(RunningFile).max(1000),
});

/** By name, which version of it the node works with. */
export const Packs = z
  .record(z.string().max(32), z.string().max(64))
  .refine((packs) => Object.keys(packs).length <= 32, 'at most 32 packs');

const HeldKeys = z.array(KeyID).max(8).optional().catch(undefined);

/** `unresponsive`: it runs, and it or some of its workers do not respond. */
export const NginxState = z.enum(['running', 'stopped', 'rolledBack', 'unresponsive']);

/** A tenant's pattern that nginx does not compile; its rule matches nothing. */
export const FailingPattern = z.object({
  site: z.string().max(64),
  rule: z.string().max(64).describe('Of a module its id; empty where it is not known'),
  error: z.string().max(2000),
});

/** On up.<node>.heartbeat, when connected, after that every 30 s. The answer says what the node should have. */
export const Heartbeat = z.object({
  revision: Revision,
  /** Over all documents it holds: the zone's, and of node/* its own alone. */
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

/** rpc.<node>.keys: the keys of its zone. `box` is an X25519 public key made for this question alone (DER, base64), and
 *  `signature` the node's own over it (key-box.ts), so that a bus which is not ours could neither ask in its name nor read the answer. */
export const KeysRequest = z.object({ box: z.base64().max(100), signature: z.base64().max(100) });
/** Sealed to that box and signed by the account that the node's own credentials are signed by. */
export const KeysReply = z.object({
  box: z.base64().max(100),
  iv: z.base64(),
  data: z.base64(),
  tag: z.base64(),
  signature: z.base64().max(100),
});

/** In place of any answer: it was not understood, or could not be answered just now. */
export const Refused = z.object({
  refused: z.string(),
  unknown: z.boolean().optional().describe('Nothing of that name is known: asking again is of no use'),
});

/** More than any node answers between two questions: sums of what one makes up stay numbers that can be kept. */
const Visits = z.int().min(0).max(1_000_000_000);
/** How visitors fare, asked for while something new comes to the node. Counted from an agent's first answer on: two answers
 *  of one agent are compared, and where the second says less another agent has begun to count. */
export const NodeGauges = z.object({
  at: z.iso.datetime(),
  requests: z.int().min(0),
  serverErrors: z.int().min(0).describe('Answers from 500 to 599 of those'),
  refused: z.int().min(0).optional().describe('Whom the node turned away itself: 403 by a rule, 444, 929, 978'),
  dropped: z.int().min(0).optional().describe('Packets to the ports of the zone that its kernel dropped'),
  p99Ms: z.number().min(0).nullable().describe('Of the last seconds; null: nobody came'),
  nginx: NginxState,
  error: z.string().nullable(),
  since: z
    .object({
      requests: Visits,
      serverErrors: Visits,
      refused: Visits,
      slow: Visits,
      sites: z
        .array(z.tuple([Id, Visits, Visits, Visits, Visits]))
        .max(1000)
        .describe('The same four of sites that had anything but quick and good answers, the worst of them'),
    })
    .optional()
    .describe('Visits to sites of this node since the question before this one; each is in one answer only'),
});

/** On up.<node>.origins: what active checks found, when it changed and again every minute. */
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

/** On up.<node>.cached: what a pass over its store found of each site; one that has nothing there any more is named once. */
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

/** Of a block set: it rises with each change. */
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

/** On up.<node>.blocks: whom this node blocked, each second that it did, and again every 30 s how far its set is. */
export const BlockReport = z.object({
  revision: SetRevision,
  size: z.int().min(0).max(2_147_483_647),
  blocks: z.array(Blocked.extend({ siteID: Id.nullable() })).max(1000),
  dropped: z
    .int()
    .min(0)
    .max(1_000_000_000)
    .describe('For which there was no room, since the last report that was answered'),
  fault: z.string().max(300).describe('Why its kernel drops nobody; empty: it does'),
});
/** `refused`: those that must not be blocked, whatever they did. */
export const BlockReply = z.object({ revision: SetRevision, refused: z.array(z.string()) });

/** On edge.zone.<zone>.blocks: what changed after `previous`. Who has less asks. */
export const BlockPush = z.object({
  zone: Id,
  previous: SetRevision,
  revision: SetRevision,
  blocks: z.array(Blocked),
});
/** rpc.<node>.blocks: what changed after `revision`, in pages; asked again with the page's, until `more` is false. */
export const BlocksRequest = z.object({ revision: SetRevision });
export const BlocksReply = z.object({
  whole: z
    .boolean()
    .describe('The set begins anew with this page: what the node has and is not sent is blocked no more'),
  blocks: z.array(Blocked),
  revision: SetRevision,
  more: z.boolean(),
});

/** What a purge takes: URLs, or of one site what begins so (host and decoded path; '' is all of it) or has these tags. */
export const PurgeOrder = z.object({
  urls: z.array(z.string()).max(1000).optional(),
  site: Id.optional(),
  prefixes: z.array(z.string()).max(1000).optional(),
  tags: z.array(z.string()).max(1000).optional(),
  soft: z.boolean().optional().describe('kept as stale, and asked about with the next request'),
});
/** cmd.<node>.purge. Repeating one is harmless. */
export const PurgeCommand = PurgeOrder.extend({ id: Id, deadline: z.iso.datetime() });
/** cmd.<node>.preheat: fetch these into the store. The answer counts those that came. */
export const PreheatCommand = z.object({
  id: Id,
  deadline: z.iso.datetime(),
  urls: z.array(z.string().max(16_384)).min(1).max(100),
});
/** cmd.<node>.warm: see that these are stored, and fetch those that are not. The answer says of each, in their order. */
export const WarmCommand = PreheatCommand;
export const Warmed = z.object({
  state: z.enum(['stored', 'notStored', 'failed']).catch('failed'),
  fault: z.string().max(500).nullable(),
  /** How long what is stored is fresh yet; null: it was not said. */
  freshSeconds: z.number().nullable(),
});
/** cmd.<node>.heldPorts: which of these ports of a zone could this machine not open, as somebody else has them? */
export const HeldPortsCommand = z.object({
  id: Id,
  deadline: z.iso.datetime(),
  ports: z
    .array(z.object({ port: Port, tls: z.boolean() }))
    .min(1)
    .max(100),
});
/** cmd.<node>.resync: drop what you think you know, ask for everything. */
export const ResyncCommand = z.object({ id: Id, deadline: z.iso.datetime() });
/** cmd.<node>.{reset,rotateLogs,reboot,system,running,zoneKeys}: all that they say is in their name. */
export const Command = z.object({ id: Id, deadline: z.iso.datetime() });
/** cmd.<node>.gauges: what takes longer than this is counted as slow. */
export const GaugesCommand = Command.extend({ slowMs: z.number().min(0).optional() });
/** cmd.<node>.clearCache: of every site what has one of these tags; without them all that is stored. */
export const ClearCommand = Command.extend({ tags: z.array(z.string()).max(100).optional() });
/** cmd.<node>.move: join anew by this token, as a node of another zone, and forget the one before. */
export const MoveCommand = Command.extend({ control: z.url(), token: z.string().min(20).max(200) });
export const CommandReply = z.object({
  id: Id,
  ok: z.boolean(),
  error: z.string().nullable(),
  tookMs: z.number(),
  objects: z.int(),
  unknown: z.boolean().optional().describe('The agent does not know this command'),
  late: z.boolean().optional().describe('It came after its deadline, by the clock of the node'),
  figures: NodeFigures.optional(),
  running: RunningTree.optional(),
  gauges: NodeGauges.optional(),
  simulated: Simulated.optional(),
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
