// The decision trail of a request: what decided, in the order in which the edge decided it.
import * as z from 'zod';
import { LogRow } from './logs.ts';
import { WafExplanation } from '../waf/explanation.ts';

const Text = z.string();

export const TrailStep = z.object({
  step: Text.describe('As in simulations: host, antiReferer, tokenAuth, cache, origin …'),
  decision: z
    .enum([
      'passed',
      'applied',
      'refused',
      'redirected',
      'closed',
      'answered',
      'served',
      'fetched',
      'exempted',
      'wouldBlock',
      'wouldAllow',
      'other',
    ])
    .describe(
      'exempted: by a white list. wouldBlock: by a rule that only monitors, and that would refuse, challenge or redirect',
    ),
  status: z.int().nullable().describe('With which the edge ended the request'),
  detail: Text.describe('The site, the cache status, the origin, or why a visitor was challenged'),
  rule: z.object({ kind: Text, id: Text, name: Text.nullable().describe('Null: removed since') }).nullable(),
  microseconds: z.number().nullable().describe('Null: not measured'),
});
export type TrailStep = z.output<typeof TrailStep>;

export const LogDetail = LogRow.extend({
  trail: z.array(TrailStep).max(64),
  microseconds: z.number().nullable().describe('Of all decisions about access. Null: not measured'),
  waf: WafExplanation.nullable().describe('Null: the firewall found nothing, or the node is older'),
});
export type LogDetail = z.output<typeof LogDetail>;
