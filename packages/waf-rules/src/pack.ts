// The pack that nodes load: rules, keywords and the model. One is built into the agent as Lua that returns JSON.
import { WAF_PACK_FORMAT, type WafPack } from '@edgeloom/contract/edge/waf-pack.ts';
import { WafCategory } from '@edgeloom/contract/waf/waf.ts';
import { ruleFiles, rules } from './rules.ts';
import { keywords } from './keywords.ts';

/**
 * Raise it with each change of rules, keywords or weights. A node prefers a pack to the rules in its agent only if the
 * pack's version is higher.
 */
export const RULES_VERSION = '2026.11.1';

export interface Model {
  bias: number;
  scale: number;
  places: Record<string, number>;
  /** Base64 of entries of three bytes: a feature's number, and its weight + 128. */
  packed: string;
}

const points = { critical: 5, error: 4, warning: 3, notice: 2 };

/** A word belongs to the first category that has it. */
function keywordLists(): WafPack['keywords'] {
  const known = new Set<string>();
  return Object.entries(keywords).map(([category, text]) => {
    const own = text
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => !known.has(word) && known.add(word));
    return { category: WafCategory.parse(category), words: own.join(' ') };
  });
}

export const wafPack = ({ bias, scale, places, packed }: Model): WafPack => ({
  format: WAF_PACK_FORMAT,
  version: RULES_VERSION,
  categories: ruleFiles.map(({ category }) => category),
  keywords: keywordLists(),
  rules: rules.map(({ id, category, severity, paranoia, alone, targets, pattern }) => ({
    id,
    category,
    points: points[severity],
    level: paranoia,
    ...(alone && { alone }),
    targets: [...targets],
    ...(pattern !== null && { pattern }),
  })),
  model: { bias, scale, places, packed },
});

/** JSON with a rule per line, so that differences can be read. */
export function packText({ keywords: lists, rules: all, model, ...rest }: WafPack): string {
  const rows = (values: readonly unknown[]) => values.map((value) => JSON.stringify(value)).join(',\n');
  const head = JSON.stringify(rest).slice(0, -1);
  return `${head},
"keywords":[
${rows(lists)}
],
"rules":[
${rows(all)}
],
"model":${JSON.stringify(model)}}
`;
}

export const luaPack = (model: Model): string =>
  `-- Made from packages/waf-rules by \`pnpm waf:pack\`. Do not edit.\nreturn [===[\n${packText(wafPack(model))}]===]\n`;
