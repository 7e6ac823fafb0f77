// The firewall's finding in a request, as the node explains it.
import * as z from 'zod';

/** Nodes write far less; callers send explanations back. */
const Text = z.string().max(4096);
const Offset = z.int().min(0).optional();

export const WafSteps = z.enum(['url', 'narrow', 'entities', 'escapes', 'comments', 'base64']);

/** As a node writes it (agent/lua/edge/waf/explain.lua). */
export const WafExplanation = z.object({
  score: z.number().optional().describe('Of the model. Absent: the rule needs none'),
  points: z.number().describe('The sum of the rules'),
  rules: z
    .array(
      z.object({
        id: Text,
        points: z.number(),
        from: Offset.describe('Where the match begins in the excerpt. Absent: not within it'),
        to: Offset.describe('Where the match ends'),
      }),
    )
    .max(6)
    .describe('The deciding rule first, then others that match'),
  place: Text.describe('path, query, form, json, xml, cookie, header …; body: all of it'),
  name: Text.optional().describe('Of the parameter, the cookie or the header field'),
  steps: z.array(WafSteps).max(9).optional().describe('How the value was decoded before the match'),
  excerpt: Text.optional().describe(
    'The decoded value around the match. `\\xHH`: a byte that is no printable ASCII. `•••`: a secret. Absent if the site masks it',
  ),
  tokens: z
    .array(z.object({ text: Text, weight: z.number() }))
    .max(5)
    .optional()
    .describe('What the model weighed most'),
});
export type WafExplanation = z.output<typeof WafExplanation>;
