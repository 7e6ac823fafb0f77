import * as z from 'zod';
import { Id, Memo, Text, Time } from '../common/common.ts';

/** `natsError`: connected before, not now, and known to serve. `rejected`: refused a document and serves the one before. */
export const NodeStatus = z.enum([
  'uninitialized',
  'enabled',
  'disabled',
  'offline',
  'reconnecting',
  'natsError',
  'rejected',
]);

export const NodeInput = z.object({
  name: Text,
  ip: z.union([z.ipv4(), z.ipv6()]),
  zoneID: Id,
  role: z.enum(['main', 'backup']).default('main'),
  memo: Memo.default(''),
  cacheMaxBytes: z.int().min(0).default(0).describe("0: the zone's value"),
});
export const NodeUpdate = z.object({
  id: Id,
  name: Text.optional(),
  ip: z.union([z.ipv4(), z.ipv6()]).optional(),
  memo: Memo.optional(),
  cacheMaxBytes: z.int().min(0).optional(),
});

export const EdgeNode = z.object({
  id: Id,
  name: Text,
  ip: z.string(),
  zoneID: Id,
  zoneName: Text,
  role: z.enum(['main', 'backup']),
  enabled: z.boolean(),
  status: NodeStatus,
  initialized: z.boolean(),
  currentSerial: z.int().describe('Revision that the node has applied'),
  latestSerial: z.int().describe("Revision of the zone's newest document"),
  syncedAt: Time.nullable(),
  lastSeenAt: Time.nullable(),
  version: z.string(),
  error: z.string().nullable().describe("The node's last error in its own words"),
  memo: Memo,
  cacheMaxBytes: z.int(),
  createdAt: Time,
  updatedAt: Time,
});

/** The token is shown once; with it the agent on the machine joins (`node/join`). It ends after 24 hours or its first use. */
export const JoinToken = z.object({ joinToken: z.string(), expiresAt: Time });

export const Installed = z.object({
  status: NodeStatus,
  currentSerial: z.int(),
  latestSerial: z.int(),
  digestAgrees: z.boolean().nullable(),
  rejected: z.array(z.object({ key: z.string(), revision: z.int(), error: z.string() })),
  nginx: z.string().nullable(),
  capabilities: z.array(z.string()),
  error: z.string().nullable(),
});
export type EdgeNode = z.output<typeof EdgeNode>;
export type NodeInput = z.output<typeof NodeInput>;
export type NodeUpdate = z.output<typeof NodeUpdate>;
export type NodeStatus = z.output<typeof NodeStatus>;
