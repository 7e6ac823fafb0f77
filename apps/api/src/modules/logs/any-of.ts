import { nothing, sql, type Sql } from '../../core/sql.ts';

/** True if the condition holds for one of the texts. */
export function anyOf(texts: readonly string[], condition: (text: string) => Sql): Sql {
  let all = nothing;
  for (const [i, text] of texts.entries()) all = i === 0 ? condition(text) : sql`${all} OR ${condition(text)}`;
  return sql`(${all})`;
}
