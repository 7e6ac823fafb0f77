// The verdict of a zone's monitors about a node. A majority of the group decides, since any monitor may be wrong.

import type { MonitorVerdict } from '@edgeloom/contract/nodes/nodes.ts';

/** A monitor that has been silent this long is offline. Its results no longer count. */
export const MONITOR_OFFLINE_MS = 20_000;
/** A monitor considers a node failed, or recovered, after this many equal checks in a row. */
export const FAILURES_TO_FAIL = 3;
export const SUCCESSES_TO_RECOVER = 2;

/** How many monitors a group has, and how many of them find that the node fails or works. Others do not know. */
export interface MonitorCounts {
  monitors: number;
  failing: number;
  passing: number;
}

/** Without a majority the previous verdict holds, as long as any monitor knows something. */
export function verdictOf({ monitors, failing, passing }: MonitorCounts, before: MonitorVerdict): MonitorVerdict {
  if (failing * 2 > monitors) return 'error';
  if (passing * 2 > monitors) return 'normal';
  return failing + passing === 0 ? 'unknown' : before;
}
