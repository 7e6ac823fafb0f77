import * as z from 'zod';
import { Id, Text, Time } from '../common/common.ts';
import { Line } from '../dns-setting/lines.ts';
import { NodeStatus } from '../nodes/nodes.ts';

export const DEFAULT_LINE = 'default';

const Lines = z
  .array(Line.refine((line) => line !== DEFAULT_LINE, { message: 'data already exists' }))
  .max(100)
  .refine((lines) => new Set(lines).size === lines.length, { message: 'data already exists' });
const Priority = z.int().min(1).max(100);

export const GroupInput = z.object({
  name: Text,
  priority: Priority.default(1).describe('The smallest comes first, and takes the sites of products without a group'),
  backupGroupID: Id.nullable().default(null).describe('Answers while this one has nothing to answer'),
  lines: Lines.default([]).describe('Lines with their own nodes, besides the default'),
});
export const GroupUpdate = z.object({
  id: Id,
  name: Text.optional(),
  priority: Priority.optional(),
  backupGroupID: Id.nullable().optional(),
  lines: Lines.optional().describe('A line with nodes on it stays'),
});

/**
 * `backups`: backup nodes replace some nodes. `backupGroup`: the group has no healthy node, so its backup group
 * answers. `forced`: the operator chose the backup group. `lastGood`: no node is healthy, and the last answer stays.
 * `empty`: the group has never had an answer.
 */
export const GroupStanding = z.enum(['ok', 'backups', 'backupGroup', 'forced', 'lastGood', 'empty']);

export const Group = z.object({
  id: Id,
  name: Text,
  priority: z.int(),
  backupGroupID: Id.nullable(),
  backupGroupName: z.string().nullable(),
  forcedAt: Time.nullable().describe('Since when its backup group is forced to answer'),
  lines: z.array(Line),
  serverIP: z.array(z.string()).describe('Addresses of its nodes that the default line answers'),
  dnsLabel: z.string().describe('The first label of its name in DNS'),
  state: GroupStanding,
  stateSince: Time.nullable(),
  siteCount: z.int(),
  nodeCount: z.int(),
  createdAt: Time,
  updatedAt: Time,
});

/** `n-` and the id of a node, or `v-` and the id of a virtual node. */
const uid = (prefix: 'n' | 'v') =>
  z.string().regex(new RegExp(`^${prefix}-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`));
export const NodeUID = z.union([uid('n'), uid('v')]);
/** Unvalidated uid of a request. An unknown node is rejected with 203005. */
const SentUID = z.string().max(64);
const Weight = z.int().min(0).max(100).describe('Its share beside the others of its line; 0: none');

export const MembersInput = z.object({
  nodeUIDs: z.array(SentUID).min(1).max(100),
  weight: Weight.default(50).describe('Also of those that are on the line already'),
});
export const Members = z.object({ nodeUIDs: z.array(SentUID).min(1).max(100) });

/**
 * Why DNS does not return a node. `monitor`: its zone's monitors find that it fails. `busy`: it sends more than its
 * bandwidth. `zero`: its weight is 0. `standby`: a backup that is not needed. `noRecord`: a virtual node without a
 * usable record. `beside`: a name, which cannot coexist with addresses.
 */
export const OutReason = z.enum([
  'uninitialized',
  'disabled',
  'draining',
  'relay',
  'nginx',
  'away',
  'parent',
  'recovering',
  'monitor',
  'busy',
  'zero',
  'standby',
  'noRecord',
  'beside',
]);

/** DNS may still return an offline node while its ports accept connections. */
const OfNode = { nodeStatus: NodeStatus.nullable().describe('Null for a virtual node') };

export const Member = z.object({
  nodeUID: NodeUID,
  name: z.string(),
  role: z.enum(['main', 'backup']),
  weight: z.int(),
  addresses: z.array(z.string()).max(100).describe('Or the name that it leads to'),
  isAnswered: z.boolean(),
  reason: OutReason.nullable(),
  since: Time.nullable().describe('Of the reason'),
  ...OfNode,
});
export const GroupLine = z.object({ line: Line, members: z.array(Member) });

export const Board = z.object({
  groups: z.array(Group.extend({ members: z.array(GroupLine) })),
  free: z.array(Member).describe('On no line of any group'),
});

/** A weight adds the node to the line or changes its weight. Null removes the node from the line. */
export const Placement = z.object({
  groupID: Id,
  line: Line,
  nodeUID: SentUID,
  weight: Weight.nullable(),
});
export const Placements = z.object({ changes: z.array(Placement).min(1).max(500) });

export const ResolutionInput = z.object({
  groupID: Id,
  line: Line,
  changes: z.array(Placement).max(500).default([]).describe('As if these had been made'),
});
/** DNS answer for a visitor of a line, and the nodes that are left out with the reason. */
export const Resolution = z.object({
  name: z.string().describe('The first label of the name that is asked'),
  state: GroupStanding,
  line: Line.describe('Whose answer it is: the asked line, or the default'),
  groupID: Id.describe('Whose answer it is: this one, or its backup group'),
  answers: z.array(
    z.object({
      value: z.string(),
      weight: z.int(),
      nodeUID: NodeUID.nullable().describe('Null: of an answer of before'),
      name: z.string(),
      ...OfNode,
    }),
  ),
  out: z.array(z.object({ nodeUID: NodeUID, name: z.string(), reason: OutReason, since: Time.nullable(), ...OfNode })),
});

/** A node's membership in a line of a group. */
export const Place = z.object({ groupID: Id, groupName: z.string(), line: Line, weight: z.int() });

export type Group = z.output<typeof Group>;
export type GroupInput = z.output<typeof GroupInput>;
export type GroupUpdate = z.output<typeof GroupUpdate>;
export type GroupStanding = z.output<typeof GroupStanding>;
export type Member = z.output<typeof Member>;
export type GroupLine = z.output<typeof GroupLine>;
export type Board = z.output<typeof Board>;
export type OutReason = z.output<typeof OutReason>;
export type Placement = z.output<typeof Placement>;
export type Resolution = z.output<typeof Resolution>;
