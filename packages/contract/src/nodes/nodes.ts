import * as z from 'zod';
import { Id, Ids, Memo, Port, Text, Time } from '../common/common.ts';
import { Folder } from '../common/folder.ts';
import { secret } from '../common/secret.ts';
import { asciiName } from '../common/net.ts';
import { FailingPattern, NodeFigures, NodeLoad, RunningTree } from '../edge/messages.ts';
import { ReleaseProduct } from '../edge/releases.ts';
import type { ErrorMessage } from '../messages.ts';
import { UpgradeStatus } from '../rollouts/rollouts.ts';

/**
 * `natsError`: the connection is lost, but the node is known to serve. `rejected`: the node refused a document and
 * serves the previous one. `backupPaused`: a backup node on standby.
 */
export const NodeStatus = z.enum([
  'uninitialized',
  'enabled',
  'backupPaused',
  'disabled',
  'offline',
  'reconnecting',
  'natsError',
  'rejected',
]);

export const NodeRole = z.enum(['main', 'backup']);
/**
 * `edge` serves visitors. `relay` is an origin shield: edge nodes of its zone ask it before the origin, for sites that
 * enable this.
 */
export const NodeKind = z.enum(['edge', 'relay']);
/** `normal` is a machine. `virtual` is a virtual node: addresses or a name in DNS answers, without a machine. */
export const NodeType = z.enum(['normal', 'virtual']);
/** Layers that a node serves: 7 is sites, 4 is forwarded ports. */
export const NodePortType = z.enum(['7', '4', 'both']);

const Credential = secret(
  z
    .string()
    .min(1)
    .max(16_384)
    .refine((text) => !text.includes('\0'), 'holds a NUL character'),
);
/**
 * SSH access for installing the machine. Password and key are write-only; fields omitted from an update stay unchanged.
 */
export const NodeSSHInput = z.object({
  port: Port.default(22),
  user: z
    .string()
    .regex(/^[a-z_][a-z0-9_.-]{0,31}$/i)
    .default('root'),
  password: Credential.optional(),
  privateKey: Credential.optional(),
  fingerprint: z
    .string()
    .regex(/^SHA256:[A-Za-z0-9+/]{43}$/)
    .nullable()
    .optional()
    .describe("Of the machine's host key: another one is refused"),
});
const NodeSSHUpdate = z.object({
  port: Port.optional(),
  user: NodeSSHInput.shape.user.unwrap().optional(),
  password: Credential.optional(),
  privateKey: Credential.optional(),
  fingerprint: NodeSSHInput.shape.fingerprint,
});
export const NodeSSH = z.object({
  port: Port,
  user: z.string(),
  hasPassword: z.boolean(),
  hasPrivateKey: z.boolean(),
  fingerprint: z.string().nullable(),
});

const Address = z.union([z.ipv4(), z.ipv6()]);
const CacheMaxBytes = z.int().min(0).max(1e15);
/** The machine itself decides whether this folder is allowed. */
const CacheDir = z.union([z.literal(''), Folder]);
const Bandwidth = z.int().min(0).max(10_000_000);

export const NodeInput = z.object({
  name: Text,
  ip: Address,
  zoneID: Id,
  role: NodeRole.default('main'),
  kind: NodeKind.default('edge'),
  relayPort: Port.default(8443).describe('Where edge nodes reach a relay'),
  portType: NodePortType.default('both'),
  bandwidthMbps: Bandwidth.default(0).describe('Bandwidth of its uplink, in Mbps; 0: unknown'),
  memo: Memo.default(''),
  cacheMaxBytes: CacheMaxBytes.default(0).describe("0: the zone's value"),
  cacheDir: CacheDir.default('').describe("A folder of the machine for its store; empty: in the node's own directory"),
  ssh: NodeSSHInput.optional(),
});
export const NodeUpdate = z.object({
  id: Id,
  name: Text.optional(),
  ip: Address.optional(),
  role: NodeRole.optional(),
  kind: NodeKind.optional(),
  relayPort: Port.optional(),
  portType: NodePortType.optional(),
  bandwidthMbps: Bandwidth.optional(),
  memo: Memo.optional(),
  cacheMaxBytes: CacheMaxBytes.optional(),
  cacheDir: CacheDir.optional(),
  ssh: NodeSSHUpdate.nullable().optional().describe('null forgets it'),
});

/** Segment size and window of a node's SYN-ACK. Null: the system's default. */
export const Geneva = z.object({
  packetSize: z.int().min(88).max(1460).nullable(),
  windowSize: z.int().min(1).max(65_535).nullable(),
});

/** A host with an optional port, as in the Host header. Not all that the pattern permits is a host: `1.2.3.4.5`. */
const HostHeader = z
  .string()
  .overwrite(asciiName)
  .max(259)
  .regex(/^[A-Za-z0-9.-]+(:\d{1,5})?$/)
  .refine((host) => URL.canParse(`http://${host}`), {
    message: 'enter a domain name' satisfies ErrorMessage,
  });
const TlsName = z
  .string()
  .overwrite(asciiName)
  .max(253)
  .regex(/^[A-Za-z0-9.-]+$/);

/** type: 1 HTTP status, 2 HTTP content, 3 TCP, 4 ping. */
export const NodeMonitor = z.object({
  enabled: z.boolean(),
  type: z.union([z.literal(1), z.literal(2), z.literal(3), z.literal(4)]),
  url: z
    .url({ protocol: /^https?$/ })
    .max(2048)
    .nullable(),
  port: Port.nullable(),
  content: z.string().max(1024).nullable(),
  interval: z.int().min(1).max(86_400).describe('Seconds; a new one is 1 to 3600'),
  failAction: z.enum(['none', 'pause']),
  host: HostHeader.nullable().default(null).describe("Host of HTTP requests; null: the URL's"),
  tlsName: TlsName.nullable().default(null).describe('TLS name (SNI) of HTTPS requests; null: the host'),
  userAgent: z
    .string()
    .max(256)
    .regex(/^[\x20-\x7e]*$/)
    .default('')
    .describe("Empty: the monitor's own"),
  status: z.int().min(200).max(999).nullable().default(null).describe('Expected HTTP status; null: 200 to 399'),
  timeout: z.int().min(1).max(30).default(5).describe('Seconds'),
});

/** `unknown`: not monitored, or its monitors have not decided. */
export const MonitorVerdict = z.enum(['unknown', 'normal', 'error']);

/**
 * `undecided`: too few checks agree. `outdated`: its last result is old or of former settings. `notAllowed`: monitors
 * send no requests to the node's address.
 */
export const MonitorFinding = z.enum([
  'failing',
  'working',
  'undecided',
  'cannotCheck',
  'offline',
  'outdated',
  'notAllowed',
]);

/** The finding of one monitor about a node. */
export const NodeMonitorResult = z.object({
  monitorID: Id,
  monitorName: Text,
  finding: MonitorFinding,
  error: z.string().nullable().describe('Why the last check failed, or could not be done'),
  tookMs: z.int().nullable(),
  reportedAt: Time.nullable().describe('Null: it has no result'),
});

/** The input of a monitor. Monitors that were stored earlier may have a longer interval. */
export const NodeMonitorInput = NodeMonitor.extend({ interval: z.int().min(1).max(3600).describe('Seconds') });
export const NodesMonitorInput = Ids.extend(NodeMonitorInput.shape).superRefine(({ type, content }, ctx) => {
  if (type === 2 && (content ?? '') === '') ctx.addIssue({ code: 'custom', path: ['content'], message: 'required' });
});

export const EdgeNode = z.object({
  id: Id,
  name: Text,
  ip: z.string(),
  zoneID: Id,
  zoneName: Text,
  type: NodeType,
  role: NodeRole,
  kind: NodeKind,
  relayPort: z.int(),
  portType: NodePortType,
  bandwidthMbps: z.int(),
  enabled: z.boolean(),
  status: NodeStatus,
  forceBackup: z.boolean().describe('Whether a group of the node is forced to its backup group'),
  drainEndsAt: Time.nullable().describe('Switched off, but it goes on serving until then'),
  initialized: z.boolean(),
  currentSerial: z.int().describe('Revision that the node has applied'),
  latestSerial: z.int().describe("Revision of the zone's newest document"),
  syncedAt: Time.nullable(),
  lastSeenAt: Time.nullable(),
  version: z.string(),
  release: z.string().nullable().describe('Of the agent; null: one that cannot be upgraded from here, or does not say'),
  packs: z.array(z.object({ product: ReleaseProduct, version: z.string() })),
  upgradeStatus: UpgradeStatus,
  error: z.string().nullable().describe("The node's last error in its own words"),
  clockOffsetMs: z.int().nullable().describe('How far its clock is ahead'),
  load: NodeLoad.nullable().describe('Of its last heartbeat; null while it is not connected'),
  cacheBytes: z.int().describe('What its store holds'),
  memo: Memo,
  cacheMaxBytes: z.int(),
  cacheDir: z.string(),
  logRotateSeconds: z.int(),
  geneva: Geneva,
  monitor: NodeMonitor.nullable(),
  monitorStatus: MonitorVerdict.describe("Verdict of its zone's monitors"),
  ssh: NodeSSH.nullable(),
  parentID: Id.nullable(),
  parentName: z.string().nullable(),
  subCount: z.int(),
  moveToZoneID: Id.nullable().describe('On its way there'),
  createdAt: Time,
  updatedAt: Time,
});

/** The token is shown once. The agent joins with it (`node/join`). It expires after 24 hours or its first use. */
export const JoinToken = z.object({
  joinToken: z.string(),
  expiresAt: Time,
  command: z.string().describe('What is pasted on the machine to install it as well'),
});

export const Installed = z.object({
  status: NodeStatus,
  currentSerial: z.int(),
  latestSerial: z.int(),
  digest: z.string().nullable(),
  digestAgrees: z.boolean().nullable(),
  rejected: z.array(z.object({ key: z.string(), revision: z.int(), error: z.string() })),
  failingPatterns: z
    .array(FailingPattern.extend({ siteName: z.string().nullable() }))
    .describe('Patterns that its nginx did not compile within the last hour: their rules match nothing'),
  nginx: z.string().nullable(),
  capabilities: z.array(z.string()),
  error: z.string().nullable(),
  unreadableLines: z.int().describe('Lines of its access logs that failed to parse, since it was created'),
  logsLost: z.int().describe('Lines of its access logs that it deleted unsent for lack of room, since it was created'),
  logsLostAt: Time.nullable().describe('When the last ones were lost'),
  monitorResults: z
    .array(NodeMonitorResult)
    .describe('What each monitor of its zone finds. Empty: it is not monitored'),
});

/** The stored lines of a node, and the longest one. Escaping may triple its length. */
export const MAX_UNREADABLE_LINES = 50;
export const MAX_UNREADABLE_CHARS = 2000;
export const UnreadableLine = z.object({
  at: Time.describe('When it arrived'),
  kind: z.enum(['requests', 'sessions']),
  line: z.string().describe('Bytes that are not UTF-8, and control characters, are escaped: %C4%E3'),
});
export const UnreadableLines = z.object({
  data: z.array(UnreadableLine).describe('The newest, oldest first'),
  dropped: z.int().describe('Older lines, which are counted and no longer stored'),
});

/** Read from the node itself. */
export const Running = RunningTree;
export const NodeSystem = NodeFigures;

/** Types as for sites: 1 URL, 2 prefix, 3 host, 4 tag. */
export const NodePurge = Ids.extend({
  type: z.union([z.literal(1), z.literal(2), z.literal(3), z.literal(4)]),
  urls: z.array(z.string().min(1).max(4096)).min(1).max(100),
});

export type UnreadableLine = z.output<typeof UnreadableLine>;
export type UnreadableLines = z.output<typeof UnreadableLines>;
export type EdgeNode = z.output<typeof EdgeNode>;
export type NodeInput = z.output<typeof NodeInput>;
export type NodeUpdate = z.output<typeof NodeUpdate>;
export type NodeStatus = z.output<typeof NodeStatus>;
export type MonitorVerdict = z.output<typeof MonitorVerdict>;
export type MonitorFinding = z.output<typeof MonitorFinding>;
export type NodeMonitorResult = z.output<typeof NodeMonitorResult>;
export type NodeMonitor = z.output<typeof NodeMonitor>;
export type NodeSSHUpdate = z.output<typeof NodeSSHUpdate>;
export type NodePurge = z.output<typeof NodePurge>;
