// Jobs on a node's machine over SSH, step by step.
import * as z from 'zod';
import { Id, Ids, Port, Time } from '../common/common.ts';

export const NodeJobKind = z.enum(['install', 'uninstall']);
/** `waiting`: not started, or between two attempts. */
export const NodeJobState = z.enum(['waiting', 'processing', 'completed', 'failed', 'cancelled']);
/** In order. */
export const installSteps = [
  'connect',
  'detect',
  'check',
  'server',
  'runtime',
  'agent',
  'credentials',
  'system',
  'start',
  'sync',
  'probe',
] as const;
export const NodeStep = z.enum([...installSteps, 'stop', 'remove']);
export const NodeStepState = z.enum(['waiting', 'running', 'done', 'failed']);
/** The cause of a failed step, as a code. The message has details. */
export const NodeStepFault = z.enum([
  'unreachable',
  'hostKey',
  'credentials',
  'noCredentials',
  'notRoot',
  'unsupported',
  'clock',
  'space',
  'portTaken',
  'noExec',
  'artifact',
  'package',
  'command',
  'transfer',
  'start',
  'join',
  'sync',
  'probe',
  'broken',
]);

export const NodeJobStep = z.object({
  name: NodeStep,
  state: NodeStepState,
  fault: NodeStepFault.nullable(),
  message: z.string().nullable(),
  output: z.string().describe('Output of the machine, without secrets'),
  startedAt: Time.nullable(),
  endedAt: Time.nullable(),
});

const System = z.object({ id: z.string(), version: z.string(), arch: z.string() });
export const NodeJob = z.object({
  id: Id,
  nodeID: Id,
  nodeName: z.string(),
  kind: NodeJobKind,
  state: NodeJobState,
  system: System.nullable().describe('What the machine turned out to be'),
  fingerprint: z.string().nullable().describe("Of the machine's host key"),
  nextAt: Time.nullable().describe('When a broken connection is tried again'),
  createdBy: z.string(),
  createdAt: Time,
  endedAt: Time.nullable(),
  steps: z.array(NodeJobStep),
});

/** Changes since the previous event: new output and states of steps. */
export const NodeJobEvent = NodeJob.pick({
  state: true,
  system: true,
  fingerprint: true,
  nextAt: true,
  endedAt: true,
}).extend({
  steps: z.array(
    NodeJobStep.omit({ output: true }).extend({ more: z.string().describe('To be put after what came before') }),
  ),
});

export const InitializeInput = Ids.extend({
  ids: z.array(Id).min(1).max(100),
  keepSSH: z
    .boolean()
    .default(false)
    .describe('Password and key stay stored, sealed; otherwise they are forgotten when it is done'),
});
/** Reads the host key, to be compared with the machine's own. */
export const HostKeyInput = z.object({ ip: z.union([z.ipv4(), z.ipv6()]), port: Port.default(22) });
export const HostKey = z.object({ fingerprint: z.string() });
export const NodeJobsStarted = z.object({ jobIDs: z.array(Id) });

export type NodeJob = z.output<typeof NodeJob>;
export type NodeJobKind = z.output<typeof NodeJobKind>;
export type NodeJobEvent = z.output<typeof NodeJobEvent>;
export type NodeStep = z.output<typeof NodeStep>;
export type NodeStepFault = z.output<typeof NodeStepFault>;
