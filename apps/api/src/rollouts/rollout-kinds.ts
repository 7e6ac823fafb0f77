import type { RolloutKind } from '@edgeloom/contract/rollouts/rollouts.ts';
import type { Kind } from './rollout-kind.ts';
import { releaseKind } from './release-rollout.ts';
import { zoneKind } from './zone-rollout.ts';

export const kinds: Readonly<Record<RolloutKind, Kind>> = { release: releaseKind, zone: zoneKind };
