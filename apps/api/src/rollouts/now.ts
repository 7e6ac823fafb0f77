// A rollout as it stands, as those see it who decide what follows.
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
  /** In the words of its kind. */
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
  /** Of one that is away: another rollout has begun with it, or brings it something newer. */
  isTaken: boolean;
  /** Another machine than the one that took part, or in another zone than what is rolled out is for. */
  isGone: boolean;
  isServing: boolean;
  isMain: boolean;
  isConnected: boolean;
  awaySince: Date | null;
  /** What it said itself, last. */
  version: string;
  release: string | null;
  packs: unknown;
  nginx: string | null;
  error: string | null;
  rejected: { key: string; revision: number; error: string }[];
  lastSeenAt: Date | null;
  revision: number;
}

/** Have it, or may have it by now. */
export const holds = ({ state }: Pick<NodeNow, 'state'>) => state === 'updating' || state === 'updated';
export const hasNotBegun = ({ state }: Pick<NodeNow, 'state'>) => state === 'waiting' || state === 'away';
