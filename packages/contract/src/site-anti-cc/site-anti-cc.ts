// Anti-CC rules of a site: which requests are challenged, when, and how. The first rule that matches a request applies.
import * as z from 'zod';
import { Id, Time } from '../common/common.ts';
import { PathPattern } from '../common/paths.ts';

const modes = [0, 1, 2, 3, 4] as const;
const Mode = z
  .literal(modes)
  .describe('0 exempt, 1 five-second shield, 2 code in a picture, 3 click, 4 redirect with a cookie');

const input = {
  urlRegex: PathPattern.default('').describe('A pattern over the path. Empty: all paths'),
  header: z
    .string()
    .trim()
    .max(64)
    .regex(/^[A-Za-z0-9-]*$/, { message: 'wrong format' })
    .default('')
    .describe('Only requests with this header. Empty: all'),
  headerValue: z
    .string()
    .max(256)
    .regex(/^[\x20-\x7e]*$/, { message: 'wrong format' })
    .default('')
    .describe('The exact value of the header. Empty: any'),
  mode: Mode.default(1),
  frequency: z
    .int()
    .min(0)
    .max(1_000_000)
    .default(300)
    .describe('Requests of one address within `seconds` before it is challenged. 0: everyone is challenged'),
  seconds: z.int().min(1).max(300).default(10).describe('Length of the sliding window'),
  siteRate: z
    .int()
    .min(0)
    .max(1_000_000)
    .default(0)
    .describe('Requests per second on one node from which everyone is challenged. 0: never'),
  errorPercent: z
    .int()
    .min(0)
    .max(100)
    .default(0)
    .describe('Share of failed responses of the origin from which everyone is challenged. 0: never'),
  originMs: z
    .int()
    .min(0)
    .max(60_000)
    .default(0)
    .describe('Mean milliseconds until the origin responds from which everyone is challenged. 0: never'),
  raiseMinutes: z.int().min(1).max(1440).default(5).describe('How long everyone is challenged after that'),
  difficulty: z.int().min(1).max(5).default(3).describe('Work of the browser. Each level doubles it'),
  passSeconds: z.int().min(60).max(86_400).default(3600).describe('How long a visitor who passed is not challenged'),
  monitor: z.boolean().default(false).describe('Only logs who would be challenged'),
  endsAt: Time.nullable().default(null).describe('When the rule stops to apply. Null: never'),
  priority: z.int().min(0).max(10_000).default(100).describe('Lower comes first'),
  enabled: z.boolean().default(true),
};

function check({ header, headerValue }: { header: string; headerValue: string }, ctx: z.RefinementCtx): void {
  if (header === '' && headerValue !== '') ctx.addIssue({ code: 'custom', path: ['header'], message: 'required' });
}
export const SiteAntiCCInput = z.object(input).superRefine(check);
export const SiteAntiCCUpdate = z.object({ id: Id, ...input }).superRefine(check);

export const SiteAntiCC = z.object({
  id: Id,
  urlRegex: z.string(),
  header: z.string(),
  headerValue: z.string(),
  mode: Mode,
  frequency: z.int(),
  seconds: z.int(),
  siteRate: z.int(),
  errorPercent: z.int(),
  originMs: z.int(),
  raiseMinutes: z.int(),
  difficulty: z.int(),
  passSeconds: z.int(),
  monitor: z.boolean(),
  endsAt: Time.nullable(),
  priority: z.int(),
  enabled: z.boolean(),
  createdAt: Time,
  updatedAt: Time,
});

/** Suggested numbers of requests, from tolerant to strict. */
export const antiCCFrequencies = [
  { frequency: 600, seconds: 10 },
  { frequency: 300, seconds: 10 },
  { frequency: 120, seconds: 10 },
  { frequency: 60, seconds: 10 },
  { frequency: 30, seconds: 10 },
  { frequency: 0, seconds: 10 },
];

export type SiteAntiCC = z.output<typeof SiteAntiCC>;
export type SiteAntiCCInput = z.output<typeof SiteAntiCCInput>;
