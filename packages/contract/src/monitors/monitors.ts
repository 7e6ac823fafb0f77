// Monitors: machines that check nodes from outside, and groups of them that decide together.
import * as z from 'zod';
import { Id, Memo, Text, Time } from '../common/common.ts';
import { JoinToken } from '../nodes/nodes.ts';

/** At most this many monitors in a group, since each of them checks each node. */
export const MAX_GROUP_MONITORS = 50;

const Address = z.union([z.ipv4(), z.ipv6()]);
const GroupIDs = z.array(Id).max(100);
const NodeIDs = z.array(Id).max(MAX_GROUP_MONITORS);
const ZoneIDs = z.array(Id).max(1000);

export const MonitorStatus = z.enum(['uninitialized', 'enabled', 'disabled', 'offline']);

export const MonitorNodeInput = z.object({
  name: Text,
  ip: Address,
  memo: Memo.default(''),
  groupIDs: GroupIDs.default([]).describe('Groups that it becomes a member of'),
});
export const MonitorNodeUpdate = z.object({
  id: Id,
  name: Text.optional(),
  ip: Address.optional(),
  memo: Memo.optional(),
  groupIDs: GroupIDs.optional(),
});
export const MonitorNode = z.object({
  id: Id,
  name: Text,
  ip: z.string(),
  memo: Memo,
  enabled: z.boolean(),
  status: MonitorStatus,
  initialized: z.boolean(),
  version: z.string(),
  lastSeenAt: Time.nullable(),
  groups: z.array(z.object({ id: Id, name: Text })),
  createdAt: Time,
  updatedAt: Time,
});
export const NewMonitorNode = MonitorNode.extend(JoinToken.shape);

export const MonitorGroupInput = z.object({
  name: Text,
  memo: Memo.default(''),
  nodeIDs: NodeIDs.default([]).describe('Its monitors'),
  zoneIDs: ZoneIDs.default([]).describe('Zones whose nodes it checks. A zone leaves its former group'),
});
export const MonitorGroupUpdate = z.object({
  id: Id,
  name: Text.optional(),
  memo: Memo.optional(),
  nodeIDs: NodeIDs.optional(),
  zoneIDs: ZoneIDs.optional(),
});
export const MonitorGroup = z.object({
  id: Id,
  name: Text,
  memo: Memo,
  nodeIDs: z.array(Id),
  zones: z.array(z.object({ id: Id, name: Text })).describe('Of those that the caller may see'),
  createdAt: Time,
  updatedAt: Time,
});

export const MonitorNodeIDs = z.object({ nodeIDs: z.array(Id).min(1).max(MAX_GROUP_MONITORS) });

export type MonitorStatus = z.output<typeof MonitorStatus>;
export type MonitorNode = z.output<typeof MonitorNode>;
export type MonitorNodeInput = z.output<typeof MonitorNodeInput>;
export type MonitorNodeUpdate = z.output<typeof MonitorNodeUpdate>;
export type MonitorGroup = z.output<typeof MonitorGroup>;
export type MonitorGroupInput = z.output<typeof MonitorGroupInput>;
export type MonitorGroupUpdate = z.output<typeof MonitorGroupUpdate>;
