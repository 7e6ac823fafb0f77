// The verdict of a zone's monitors about a node. A majority of the group decides, since any monitor may be wrong.

import type { MonitorVerdict } from '@edgeloom/contract/nodes/nodes.ts';

/** A monitor that has been silent this long is offline. Its results no longer count. */
export const MONITOR_OFFLINE_MS = 20_000;

/** How many monitors of a group can check the node, and how many find that it fails or works. Others do not know. */
export interface MonitorCounts {
  monitors: number;
  failing: number;
  passing: number;
}

/** Without a majority the previous verdict holds, unless the monitors that know something contradict it. */
export function verdictOf({ monitors, failing, passing }: MonitorCounts, before: MonitorVerdict): MonitorVerdict {
  if (failing * 2 > monitors) return 'error';
  if (passing * 2 > monitors) return 'normal';
  if (failing + passing === 0) return 'unknown';
  // Otherwise monitors that went offline after an error would keep a node out of DNS that works for the others.
  return before === 'error' && passing > failing ? 'unknown' : before;
}
