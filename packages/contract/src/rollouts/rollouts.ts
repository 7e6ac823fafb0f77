// Rollouts reach nodes in waves: one, then a few, then all. They roll back when updated nodes are unhealthy. Kinds: a
// release of the agent, a pack of data, a zone change.
import * as z from 'zod';
import { Id, Text, Time } from '../common/common.ts';
import { ReleaseProduct, ReleaseVersion } from '../edge/releases.ts';
import { CodedMessageOrNull } from './messages.ts';

export const RolloutKind = z.enum(['release', 'zone']);
/** `waiting`: behind another rollout. `paused`: no further nodes start. Started nodes are watched and may roll back. */
export const RolloutState = z.enum(['waiting', 'running', 'paused', 'rollingBack', 'completed', 'rolledBack']);
export const RolloutAction = z.enum(['pause', 'continue', 'rollback', 'fastLane']);
/** `skipped`: no node was online, or the fast lane was chosen. */
export const WaveState = z.enum(['waiting', 'updating', 'soaking', 'passed', 'failed', 'skipped']);

/**
 * `away`: offline at its turn; starts when it returns, also after the end. `updated`: updated and watched.
 * `failed`: kept or restored its former version on its own. `rolledBack`: rolled back on order.
 * `stuck`: could not roll back. `leftOut`: never started.
 */
export const RolloutNodeState = z.enum([
  'waiting',
  'away',
  'updating',
  'updated',
  'failed',
  'rollingBack',
  'rolledBack',
  'stuck',
  'leftOut',
]);
/** The state of a node's last upgrade of any product. */
export const UpgradeStatus = z.enum(['notUpdated', 'updating', 'updateFailed', 'updateComplete']);

/** Gates of every wave. */
export const RolloutGateName = z.enum([
  'complete',
  'connected',
  'nginx',
  'errors',
  'serverErrors',
  'refusals',
  'latency',
]);
/** `notJudged`: too few requests, which delays nothing. */
export const RolloutGateState = z.enum(['waiting', 'passed', 'failed', 'notJudged']);
export const RolloutGate = z.object({
  gate: RolloutGateName,
  state: RolloutGateState,
  nodeID: Id.nullable().describe('The first of the nodes'),
  nodeName: z.string().nullable().describe('Names of up to three of the nodes, and how many more'),
  value: z.number().nullable().describe('serverErrors, refusals: share of requests; latency: milliseconds'),
  limit: z.number().nullable().describe('The highest value that passes'),
  before: z.number().nullable().describe('The value on the same nodes before the update'),
  others: z.number().nullable().describe('The current value on nodes without the change'),
  requests: z.int().nullable().describe('Requests in the metrics window'),
  customers: z
    .int()
    .nullable()
    .default(null)
    .describe('Customers whose sites got worse, once the value is above its limit'),
  message: z.string().nullable().describe('Details as English text, or as reported by the node'),
  messageCode: CodedMessageOrNull.default(null).describe('The message as a code with values'),
});

const Seconds = z.int().max(86_400);
export const RolloutGates = z.object({
  serverErrors: z
    .number()
    .min(0)
    .max(1)
    .default(0.05)
    .describe(
      'How far the share of 5xx responses may rise above that before the update and on nodes without the change',
    ),
  refusals: z
    .number()
    .min(0)
    .max(1)
    .default(0.1)
    .describe('The same for requests that nodes refuse and visitors whose packets are dropped. 1: no such gate'),
  latencyFactor: z
    .number()
    .min(1)
    .max(100)
    .default(3)
    .describe('How many times the p99 latency may be that before the update and on nodes without the change'),
  requests: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(20)
    .describe('With fewer requests the traffic gates are not evaluated'),
});

/**
 * `waves`: cumulative percentages of each zone's nodes after the first node. The last is 100.
 * `allAtOnce`: the fast lane, without waves and gates.
 */
export const RolloutStrategy = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('waves'),
    canary: z.boolean().default(true).describe('A single node is updated first'),
    percent: z.array(z.int().min(1).max(100)).min(1).max(10).default([10, 100]),
    soakSeconds: Seconds.min(0).default(60).describe('How long a wave is watched'),
    deadlineSeconds: Seconds.min(10).default(600).describe('Within this time each node of a wave must be updated'),
    gates: RolloutGates.prefault({}),
  }),
  z.object({ type: z.literal('allAtOnce') }),
]);

export const RolloutNode = z.object({
  nodeID: Id,
  nodeName: z.string(),
  zoneID: Id,
  wave: z.int().describe('From 0. It may change until the node starts, since online nodes go before offline ones'),
  state: RolloutNodeState,
  from: z.string().nullable().describe('The version before'),
  message: z.string().nullable().describe('The last message'),
  messageCode: CodedMessageOrNull.describe('The message as a code with values'),
  requests: z.int().nullable().describe('Requests since the update'),
  serverErrors: z.int().nullable(),
  p99Ms: z.number().nullable(),
  startedAt: Time.nullable(),
  endedAt: Time.nullable(),
});
export const RolloutWave = z.object({
  position: z.int(),
  percent: z.int().nullable().describe('Of each zone, including earlier waves. Null: the first node'),
  state: WaveState,
  nodes: z.int(),
  updated: z.int(),
  startedAt: Time.nullable(),
  soakEndsAt: Time.nullable(),
  endedAt: Time.nullable(),
  gates: z.array(RolloutGate),
});

/** The reason of a rollback. */
export const RolloutFault = z.enum([...RolloutGateName.options, 'person']);

/** Events as codes. `detail` has the gate or the fault. */
export const RolloutEventName = z.enum([
  'started',
  'waveStarted',
  'wavePassed',
  'asked',
  'refused',
  'away',
  'fetching',
  'switching',
  'complete',
  'failed',
  'rolledBack',
  'gateFailed',
  'rollbackStarted',
  'rollbackRequested',
  'stuck',
  'leftOut',
  'paused',
  'continued',
  'fastLane',
  'completed',
  'rollbackCompleted',
]);
export const RolloutLine = z.object({
  id: z.int(),
  at: Time,
  event: RolloutEventName,
  wave: z.int().nullable(),
  nodeID: Id.nullable(),
  nodeName: z.string().nullable(),
  detail: z.string().nullable(),
  message: z.string().nullable(),
  messageCode: CodedMessageOrNull.describe('The message as a code with values. Null for text of a person'),
  by: z.string().nullable().describe('The person who did it'),
});

export const Rollout = z.object({
  id: Id,
  kind: RolloutKind,
  product: ReleaseProduct.nullable().describe('Null for a zone change'),
  version: z.string().nullable(),
  title: z.string().describe('Name of the change'),
  state: RolloutState,
  zones: z.array(z.object({ id: Id, name: z.string() })),
  strategy: RolloutStrategy,
  fast: z.boolean().describe('In the fast lane'),
  reason: z.string().describe('The reason given'),
  wave: z.int().describe('The current wave'),
  waves: z.array(RolloutWave),
  counts: z.object({
    total: z.int(),
    updated: z.int(),
    updating: z.int(),
    away: z.int(),
    failed: z.int(),
    rolledBack: z.int(),
  }),
  fault: RolloutFault.nullable(),
  message: z.string().nullable().describe('Why it was rolled back, as English text or as a person wrote it'),
  messageCode: CodedMessageOrNull.describe('The message as a code with values. Null for text of a person'),
  createdBy: z.string(),
  createdAt: Time,
  endedAt: Time.nullable(),
});
export const RolloutDetail = Rollout.extend({ nodes: z.array(RolloutNode) });
/** The current state, with nodes and log lines that are new since the previous event. */
export const RolloutEvent = RolloutDetail.extend({ lines: z.array(RolloutLine) });

export const RolloutActionInput = z.object({ reason: Text });

/** The newest version of each product, and who uses which. */
export const LatestVersions = z.object({
  data: z.array(
    z.object({
      product: ReleaseProduct,
      version: ReleaseVersion.nullable().describe('Null: none is in the store'),
      createdAt: Time.nullable(),
      versions: z.array(ReleaseVersion).describe('All that could be rolled out, newest first'),
      levels: z
        .array(z.object({ level: z.int(), networks: z.int() }))
        .nullable()
        .describe('Of the newest risk pack: how many networks are dropped at each level of a firewall'),
      nodes: z.array(z.object({ version: z.string().describe("'': none"), count: z.int() })),
      behind: z.int().describe('Nodes that do not have the newest'),
    }),
  ),
});

/** The limit of nodes per rollout. */
export const MOST_UPGRADED = 5000;
export const UpgradeInput = z.object({
  ids: z.array(Id).min(1).max(MOST_UPGRADED),
  product: ReleaseProduct.default('agent'),
  version: ReleaseVersion.optional().describe('The newest, where it is left out. An older one may be named'),
  strategy: RolloutStrategy.prefault({ type: 'waves' }),
  reason: Text.optional().describe('Required of the fast lane'),
});

/** An event of one node. */
export const UpgradeLog = RolloutLine.extend({
  rolloutID: Id,
  product: ReleaseProduct.nullable(),
  version: z.string().nullable(),
});

export type RolloutKind = z.output<typeof RolloutKind>;
export type RolloutState = z.output<typeof RolloutState>;
export type RolloutAction = z.output<typeof RolloutAction>;
export type RolloutNodeState = z.output<typeof RolloutNodeState>;
export type RolloutStrategy = z.output<typeof RolloutStrategy>;
export type RolloutGates = z.output<typeof RolloutGates>;
export type RolloutGateName = z.output<typeof RolloutGateName>;
export type RolloutGate = z.output<typeof RolloutGate>;
export type RolloutFault = z.output<typeof RolloutFault>;
export type RolloutEventName = z.output<typeof RolloutEventName>;
export type WaveState = z.output<typeof WaveState>;
export type UpgradeStatus = z.output<typeof UpgradeStatus>;
export type RolloutNode = z.output<typeof RolloutNode>;
export type RolloutWave = z.output<typeof RolloutWave>;
export type RolloutLine = z.output<typeof RolloutLine>;
export type Rollout = z.output<typeof Rollout>;
export type RolloutDetail = z.output<typeof RolloutDetail>;
export type RolloutEvent = z.output<typeof RolloutEvent>;
export type UpgradeInput = z.output<typeof UpgradeInput>;
export type LatestVersions = z.output<typeof LatestVersions>;
export type UpgradeLog = z.output<typeof UpgradeLog>;
