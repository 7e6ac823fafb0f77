// All built-in rules, flat. Rules of the model have no pattern.
import type { WafCategory } from '@edgeloom/contract/waf/waf.ts';
import type { RuleData, RuleFile } from './rule.ts';
import { command } from './rules/command.rules.ts';
import { files } from './rules/files.rules.ts';
import { nosqli } from './rules/nosqli.rules.ts';
import { deserialization } from './rules/deserialization.rules.ts';
import { graphql } from './rules/graphql.rules.ts';
import { ldap } from './rules/ldap.rules.ts';
import { mail } from './rules/mail.rules.ts';
import { protocol } from './rules/protocol.rules.ts';
import { scanner } from './rules/scanner.rules.ts';
import { xml } from './rules/xml.rules.ts';
import { php } from './rules/php.rules.ts';
import { product } from './rules/product.rules.ts';
import { sqli } from './rules/sqli.rules.ts';
import { ssrf } from './rules/ssrf.rules.ts';
import { template } from './rules/template.rules.ts';
import { xss } from './rules/xss.rules.ts';

export const ruleFiles: readonly RuleFile[] = [
  scanner,
  protocol,
  files,
  php,
  sqli,
  nosqli,
  xss,
  command,
  ssrf,
  template,
  ldap,
  mail,
  xml,
  deserialization,
  graphql,
  product,
];

interface CategorizedRule extends Omit<RuleData, 'pattern'> {
  category: WafCategory;
  pattern: string | null;
}

export const rules: readonly CategorizedRule[] = ruleFiles.flatMap(({ category, model, rules: list }) => [
  ...list.map((rule) => ({ ...rule, category })),
  {
    id: `${category}-model`,
    category,
    severity: 'critical' as const,
    paranoia: 1 as const,
    targets: [],
    references: [],
    pattern: null,
    hits: [],
    misses: [],
    ...model,
  },
]);
