// A rollout's current state, for deciding what follows.
import { CodedMessageOrNull } from '@edgeloom/contract/rollouts/messages.ts';
import {
  RolloutFault,
  RolloutGate,
  RolloutKind,
  RolloutNodeState,
  RolloutState,
  RolloutStrategy,
  WaveState,
} from '@edgeloom/contract/rollouts/rollouts.ts';
import * as z from 'zod';
import { Baseline, MetricsWindow } from './metrics-window.ts';

const Day = z.date().nullable();
const Phase = z.enum(['asked', 'accepted', 'fetching', 'switching']);
export type Phase = z.output<typeof Phase>;

/** A row of `rollouts`. */
export const RolloutHead = z.object({
  id: z.string(),
  kind: RolloutKind,
  /** In the format of its kind. */
  target: z.unknown(),
  title: z.string(),
  state: RolloutState,
  fast: z.boolean(),
  wave: z.int(),
  strategy: RolloutStrategy,
  fault: RolloutFault.nullable(),
  message: z.string().nullable(),
  messageCode: CodedMessageOrNull,
  createdAt: z.date(),
  endedAt: Day,
});

export const WaveRecord = z.object({
  position: z.int(),
  percent: z.int().nullable(),
  state: WaveState,
  startedAt: Day,
  soakEndsAt: Day,
  endedAt: Day,
  gates: z.array(RolloutGate),
});

export const NodeRecord = z.object({
  nodeId: z.string(),
  name: z.string(),
  zoneId: z.string(),
  wave: z.int(),
  state: RolloutNodeState,
  phase: Phase.nullable(),
  orderKey: z.string().nullable(),
  before: z.unknown(),
  message: z.string().nullable(),
  messageCode: CodedMessageOrNull,
  // Null also for metrics of an older version.
  baseline: Baseline.nullable().catch(null),
  metrics: MetricsWindow.nullable().catch(null),
  startedAt: Day,
  endedAt: Day,
  active: z.boolean(),
  /** For an offline node: another rollout has started on it or brings something newer. */
  isTaken: z.boolean(),
  /** The machine was replaced, or is in another zone. */
  isGone: z.boolean(),
  isServing: z.boolean(),
  isMain: z.boolean(),
  isConnected: z.boolean(),
  awaySince: Day,
  /** As last reported. */
  version: z.string(),
  release: z.string().nullable(),
  packs: z.unknown(),
  nginx: z.string().nullable(),
  error: z.string().nullable(),
  rejected: z.array(z.object({ key: z.string(), revision: z.int(), error: z.string() })),
  lastSeenAt: Day,
  revision: z.int(),
});
export type WaveRecord = z.output<typeof WaveRecord>;
export type NodeRecord = z.output<typeof NodeRecord>;
export interface RolloutRecord extends z.output<typeof RolloutHead> {
  waves: WaveRecord[];
  nodes: NodeRecord[];
}

/** Nodes that have the change, or may have it. */
export const hasChange = ({ state }: Pick<NodeRecord, 'state'>) => state === 'updating' || state === 'updated';
export const isPending = ({ state }: Pick<NodeRecord, 'state'>) => state === 'waiting' || state === 'away';
