// A replay: which of the latest requests an unsaved change would refuse.
import * as z from 'zod';
import { Time } from '../common/common.ts';
import { DraftCalls } from '../drafts/drafts.ts';

export const REPLAYED_MINUTES = 60;
export const REPLAYED_GROUPS = 2000;
export const REPLAYED_TOP = 20;

export const ReplayInput = z.object({
  draft: DraftCalls.describe('Changes that apply to the replay as if they were saved'),
  minutes: z.int().min(1).max(REPLAYED_MINUTES).default(REPLAYED_MINUTES).describe('Up to now'),
  sample: z
    .int()
    .min(1)
    .max(REPLAYED_GROUPS)
    .default(1000)
    .describe('How many different requests are replayed at most, the most frequent first'),
});
export type ReplayInput = z.output<typeof ReplayInput>;

/** Facts that a log row does not have. Rules about them do not take part in a replay. */
export const replayGaps = [
  'addresses',
  'query',
  'headers',
  'cookies',
  'bodies',
  'connections',
  'paths',
  'tokens',
  'scripts',
  'limits',
  'challenges',
  'bots',
  'regions',
  'zone',
] as const;
export type ReplayGap = (typeof replayGaps)[number];

export const replayOutcomes = ['blocked', 'challenged', 'redirected', 'allowed'] as const;
export type ReplayOutcome = (typeof replayOutcomes)[number];

const Requests = z.number().describe('Requests. With a sampled access log, an estimate');

export const Replay = z.object({
  from: Time,
  to: Time,
  requests: Requests.describe('In the access log of this time'),
  alreadyRefused: Requests.describe('Not replayed: a rule or the node refused them'),
  replayed: Requests.describe('The sum of blocked, challenged, redirected and allowed'),
  blocked: Requests,
  challenged: Requests,
  redirected: Requests,
  allowed: Requests,
  top: z
    .array(
      z.object({
        address: z.string(),
        country: z.string(),
        method: z.string(),
        host: z.string(),
        uri: z.string(),
        userAgent: z.string(),
        requests: Requests,
        outcome: z.enum(['blocked', 'challenged']),
        cause: z.string().describe('The step that would end the request, as in simulations'),
        rule: z.object({ kind: z.string(), id: z.string(), name: z.string().nullable() }).nullable(),
      }),
    )
    .max(REPLAYED_TOP)
    .describe('The most frequent requests that would be blocked or challenged'),
  isComplete: z.boolean().describe('All requests that were not refused were replayed'),
  notReplayed: z.array(z.enum(replayGaps)).describe('Which rules and requests took no part'),
});
export type Replay = z.output<typeof Replay>;
