// The pack that nodes load: rules, keywords and the model, as one Lua table.
import { ruleFiles, rules } from './rules.ts';
import { keywords } from './keywords.ts';

export interface Model {
  bias: number;
  scale: number;
  places: Record<string, number>;
  /** Base64 of entries of three bytes: a feature's number, and its weight + 128. */
  packed: string;
}

const points = { critical: 5, error: 4, warning: 3, notice: 2 };

/** A Lua string. Patterns contain `]]`. */
const quoted = (text: string) =>
  JSON.stringify(text).replace(/\\u([0-9a-f]{4})/g, (_, hex: string) => `\\${parseInt(hex, 16)}`);

const list = (texts: readonly string[]) => `{ ${texts.map(quoted).join(', ')} }`;

export function luaPack(model: Model): string {
  const groups = ruleFiles.map(({ category }) => category);
  const known = new Set<string>();
  const keywordLines = Object.entries(keywords).map(([category, text]) => {
    const own = text
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => !known.has(word) && known.add(word));
    const group = 2 ** groups.findIndex((one) => one === category);
    return `        { group = ${group}, words = ${quoted(own.join(' '))} },`;
  });
  const ruleLines = rules.map(
    ({ id, category, severity, paranoia, alone, targets, pattern }) =>
      `        { id = ${quoted(id)}, category = ${quoted(category)}, points = ${points[severity]}, level = ${paranoia}, ` +
      `${alone ? 'alone = true, ' : ''}targets = ${list(targets)}${pattern === null ? '' : `, pattern = ${quoted(pattern)}`} },`,
  );
  return `-- Made from packages/waf-rules by \`pnpm waf:pack\`. Do not edit.
return {
    groups = { ${groups.map((category, i) => `[${2 ** i}] = ${quoted(category)}`).join(', ')} },
    keywords = {
${keywordLines.join('\n')}
    },
    rules = {
${ruleLines.join('\n')}
    },
    model = {
        bias = ${model.bias}, scale = ${model.scale},
        places = { ${Object.entries(model.places)
          .map(([place, weight]) => `${place} = ${weight}`)
          .join(', ')} },
        packed = ngx.decode_base64("${model.packed}"),
    },
}
`;
}
