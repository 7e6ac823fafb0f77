// The format of a pack of the firewall: rules, keywords and weights of the model. One is built into each release of the
// agent. A newer one is a release of the product `waf` with one file, `waf.json`, which Lua reads
// (agent/lua/edge/waf/rules.lua). It is JSON, so that a pack brings data and no code.
import * as z from 'zod';
import { WafCategory } from '../waf/waf.ts';

export const WAF_FILE = 'waf.json';
/** Raised when Lua of earlier releases would misread the pack, also after a change of how the model sees tokens. */
export const WAF_PACK_FORMAT = 1;
/** The scanner has room for twice as many. */
const MAX_KEYWORDS = 4000;
const MAX_BYTES = 4 * 1024 * 1024;

const RuleID = z.string().regex(/^[a-z][a-z0-9-]{0,63}$/);
const Weight = z.number().min(-1000).max(1000);

export const WafPack = z.object({
  format: z.literal(WAF_PACK_FORMAT),
  version: z
    .string()
    .regex(/^\d{1,6}\.\d{1,6}\.\d{1,6}$/)
    .describe('Nodes use the pack if it is higher than that of the rules in their agent'),
  categories: z.array(WafCategory).min(1).max(30).describe('In the order of the bits by which Lua groups keywords'),
  keywords: z
    .array(z.object({ category: WafCategory, words: z.string() }))
    .refine((lists) => lists.flatMap(({ words }) => words.split(' ')).length <= MAX_KEYWORDS, {
      message: 'too many keywords',
    }),
  rules: z
    .array(
      z.object({
        id: RuleID,
        category: WafCategory,
        points: z.int().min(2).max(5),
        level: z.int().min(1).max(4),
        alone: z.literal(true).optional(),
        targets: z.array(z.string().min(1).max(32)),
        pattern: z.string().min(1).max(4096).optional().describe('Absent: the rule names a finding of the model'),
      }),
    )
    .min(1)
    .max(2000)
    .refine((rules) => new Set(rules.map(({ id }) => id)).size === rules.length, {
      message: 'two rules have the same ID',
    }),
  model: z.object({
    bias: Weight,
    scale: Weight,
    places: z.record(z.string(), Weight),
    packed: z
      .base64()
      .refine((text) => text.length % 4 === 0 && !text.includes('='), { message: 'entries have three bytes each' })
      .describe('Entries of three bytes: the number of a feature, and its weight + 128'),
  }),
});
export type WafPack = z.output<typeof WafPack>;

/** Throws when the pack is invalid, even if its signature is valid. nginx compiles its patterns. */
export function readWafPack(file: Buffer): WafPack {
  if (file.length > MAX_BYTES) throw new Error(`it is longer than ${MAX_BYTES} bytes`);
  const { success, data, error } = WafPack.safeParse(parseJson(file.toString()));
  if (success) return data;
  const [issue] = error.issues;
  throw new Error(`${issue?.path.join('.') || 'it'}: ${issue?.message ?? 'wrong format'}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('it is torn or no JSON');
  }
}
