// Messages between monitors and the control plane.
import * as z from 'zod';
import { Id } from '../common/common.ts';
import { NodeMonitor } from '../nodes/nodes.ts';
import { JoinReply, JoinRequest } from './messages.ts';

/** A monitor reports at least this often, so that its silence is noticed. */
export const MONITOR_REPORT_MS = 5000;
/** A monitor finds that a node fails, or works, after this many equal checks in a row. */
export const FAILURES_TO_FAIL = 3;
export const SUCCESSES_TO_RECOVER = 2;
export const MAX_REPORT_RESULTS = 1000;

/** POST /api/v1/monitor/join */
export const MonitorJoinRequest = JoinRequest.pick({ token: true, publicKey: true, version: true });
export const MonitorJoinReply = JoinReply.pick({ nodeID: true, natsServers: true, jwt: true });

const Version = z.string().max(64);

/** One node to check. */
export const MonitorCheck = NodeMonitor.omit({ enabled: true, failAction: true }).extend({
  nodeID: Id,
  ip: z.string(),
  version: Version.describe('Hash of the settings. Results name it'),
});

/** Without failures and successes, the monitor cannot do the check, and does not count. */
export const MonitorResult = z.object({
  nodeID: Id,
  version: Version,
  failures: z.int().min(0).max(1_000_000).describe('Checks in a row that failed, up to the last one'),
  successes: z.int().min(0).max(1_000_000).describe('Checks in a row that succeeded, up to the last one'),
  tookMs: z.int().min(0).max(600_000),
  error: z.string().max(500).nullable().describe('Why the last check failed, or could not be done'),
});

export const MonitorReport = z.object({
  version: z.string().max(64).describe('Of the agent'),
  plan: Version.describe('The checks that it has; empty: none yet'),
  results: z.array(MonitorResult).max(MAX_REPORT_RESULTS).describe('Those that are new since the last report'),
});
export const MonitorReply = z.object({
  plan: Version,
  checks: z.array(MonitorCheck).optional().describe('Left out if the monitor has them'),
});

export type MonitorJoinRequest = z.output<typeof MonitorJoinRequest>;
export type MonitorJoinReply = z.output<typeof MonitorJoinReply>;
export type MonitorCheck = z.output<typeof MonitorCheck>;
export type MonitorResult = z.output<typeof MonitorResult>;
export type MonitorReport = z.output<typeof MonitorReport>;
export type MonitorReply = z.output<typeof MonitorReply>;
