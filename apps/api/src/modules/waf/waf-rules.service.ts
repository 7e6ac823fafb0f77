import type { WafCategory } from '@edgeloom/contract/waf/waf.ts';
import { rules } from '@edgeloom/waf-rules/rules.ts';

interface RuleSearch {
  category?: WafCategory | undefined;
  keyword?: string | undefined;
}

/** The built-in rules. Patterns and examples stay out, and so do rules of other categories. */
export function findRules({ category, keyword }: RuleSearch) {
  const wanted = keyword?.toLowerCase();
  const data = rules
    .map(({ id, category: of, severity, paranoia, targets, references, name, description }) => ({
      id,
      category: of,
      severity,
      paranoia,
      targets: [...targets],
      references: [...references],
      name,
      description,
    }))
    .filter((rule) => category === undefined || rule.category === category)
    .filter(
      ({ id, references, name, description }) =>
        wanted === undefined ||
        [id, ...references, ...Object.values(name), ...Object.values(description)].some((text) =>
          text.toLowerCase().includes(wanted),
        ),
    );
  return { data, total: data.length };
}
