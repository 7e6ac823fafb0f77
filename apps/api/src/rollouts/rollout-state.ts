// A rollout's current state, for deciding what follows.
import type {
  RolloutFault,
  RolloutGate,
  RolloutKind,
  RolloutNodeState,
  RolloutState,
  RolloutStrategy,
  WaveState,
} from '@edgeloom/contract/rollouts/rollouts.ts';
import type { CodedMessage } from '@edgeloom/contract/rollouts/messages.ts';
import type { Baseline, MetricsWindow } from './metrics-window.ts';

export interface RolloutRecord {
  id: string;
  kind: RolloutKind;
  /** In the format of its kind. */
  target: unknown;
  title: string;
  state: RolloutState;
  fast: boolean;
  wave: number;
  strategy: RolloutStrategy;
  fault: RolloutFault | null;
  message: string | null;
  messageCode: CodedMessage | null;
  createdAt: Date;
  endedAt: Date | null;
  waves: WaveRecord[];
  nodes: NodeRecord[];
}

export interface WaveRecord {
  position: number;
  percent: number | null;
  state: WaveState;
  startedAt: Date | null;
  soakEndsAt: Date | null;
  endedAt: Date | null;
  gates: RolloutGate[];
}

export type Phase = 'asked' | 'accepted' | 'fetching' | 'switching';
export interface NodeRecord {
  nodeId: string;
  name: string;
  zoneId: string;
  wave: number;
  state: RolloutNodeState;
  phase: Phase | null;
  orderKey: string | null;
  before: unknown;
  message: string | null;
  messageCode: CodedMessage | null;
  baseline: Baseline | null;
  metrics: MetricsWindow | null;
  startedAt: Date | null;
  endedAt: Date | null;
  active: boolean;
  /** For an offline node: another rollout has started on it or brings something newer. */
  isTaken: boolean;
  /** The machine was replaced, or is in another zone. */
  isGone: boolean;
  isServing: boolean;
  isMain: boolean;
  isConnected: boolean;
  awaySince: Date | null;
  /** As last reported. */
  version: string;
  release: string | null;
  packs: unknown;
  nginx: string | null;
  error: string | null;
  rejected: { key: string; revision: number; error: string }[];
  lastSeenAt: Date | null;
  revision: number;
}

/** Nodes that have the change, or may have it. */
export const hasChange = ({ state }: Pick<NodeRecord, 'state'>) => state === 'updating' || state === 'updated';
export const isPending = ({ state }: Pick<NodeRecord, 'state'>) => state === 'waiting' || state === 'away';
