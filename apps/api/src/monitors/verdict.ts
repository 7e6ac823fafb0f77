// The verdict of a zone's monitors about a node. A majority decides, since any monitor may be wrong.

import type { MonitorVerdict } from '@edgeloom/contract/nodes/nodes.ts';

/** A monitor that has been silent this long is offline. Its results no longer count. */
export const MONITOR_OFFLINE_MS = 20_000;
/** In a group of several monitors, at least so many must find an error. */
const MIN_FAILING = 2;

/** Monitors of a group, those of them that can check the node, and those that find that it fails or works. */
export interface MonitorCounts {
  monitors: number;
  able: number;
  failing: number;
  passing: number;
}

/** Without a majority the previous verdict holds, unless the monitors that know something contradict it. */
export function verdictOf({ monitors, able, failing, passing }: MonitorCounts, before: MonitorVerdict): MonitorVerdict {
  // Where the others cannot check, one of several monitors could remove nodes alone.
  if (failing * 2 > able && failing >= Math.min(monitors, MIN_FAILING)) return 'error';
  if (passing * 2 > able) return 'normal';
  if (failing + passing === 0) return 'unknown';
  // Otherwise monitors that went offline after an error would keep a node out of DNS that works for the others.
  return before === 'error' && passing > failing ? 'unknown' : before;
}
