import type { RolloutKind } from '@edgeloom/contract/rollouts/rollouts.ts';
import type { Kind } from './kind.ts';
import { releaseKind } from './release-kind.ts';
import { zoneKind } from './zone-kind.ts';

export const kinds: Readonly<Record<RolloutKind, Kind>> = { release: releaseKind, zone: zoneKind };
