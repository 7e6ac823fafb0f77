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
import type { Saying } from '@edgeloom/contract/rollouts/sayings.ts';
import type { Baseline, Gauged } from './gauged.ts';

export interface RolloutNow {
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
  saying: Saying | null;
  createdAt: Date;
  endedAt: Date | null;
  waves: WaveNow[];
  nodes: NodeNow[];
}

export interface WaveNow {
  position: number;
  percent: number | null;
  state: WaveState;
  startedAt: Date | null;
  soakEndsAt: Date | null;
  endedAt: Date | null;
  gates: RolloutGate[];
}

export type Phase = 'asked' | 'accepted' | 'fetching' | 'switching';
export interface NodeNow {
  nodeId: string;
  name: string;
  zoneId: string;
  wave: number;
  state: RolloutNodeState;
  phase: Phase | null;
  orderKey: string | null;
  before: unknown;
  message: string | null;
  saying: Saying | null;
  baseline: Baseline | null;
  gauges: Gauged | null;
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
export const holds = ({ state }: Pick<NodeNow, 'state'>) => state === 'updating' || state === 'updated';
export const hasNotBegun = ({ state }: Pick<NodeNow, 'state'>) => state === 'waiting' || state === 'away';
