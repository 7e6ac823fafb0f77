import type { WafRuleQuery } from '@edgeloom/contract/waf/waf.ts';
import { refusedOrdinary } from '@edgeloom/waf-rules/levels.ts';
import { rules } from '@edgeloom/waf-rules/rules.ts';
import type * as z from 'zod';

/** The built-in rules, without patterns and examples. */
export function findRules({ keyword, ...asked }: z.output<typeof WafRuleQuery>) {
  const wanted = keyword?.toLowerCase();
  const data = rules
    .filter(
      ({ category, severity, paranoia }) =>
        category === (asked.category ?? category) &&
        severity === (asked.severity ?? severity) &&
        paranoia === (asked.paranoia ?? paranoia),
    )
    .filter(
      ({ id, references, name, description }) =>
        wanted === undefined ||
        [id, ...references, ...Object.values(name), ...Object.values(description)].some((text) =>
          text.toLowerCase().includes(wanted),
        ),
    )
    .map(({ id, category, severity, paranoia, targets, references, name, description }) => ({
      id,
      category,
      severity,
      paranoia,
      targets: [...targets],
      references: [...references],
      name,
      description,
    }));
  const levels = refusedOrdinary.map((refused, i) => ({ level: i + 1, refused }));
  return { data, total: data.length, levels };
}
