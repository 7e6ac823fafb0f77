// Results per row of a bulk action. The API applies a batch completely or not at all, and names the rows at fault.
import { ApiError } from '@edgeloom/contract/client.ts';
import { randomId } from '../../lib/random-id.ts';
import { explain, multipleOf, ruleText, type Explained } from '../../lib/errors.ts';

type Cause = Pick<Explained, 'text' | 'code'>;
export interface Outcome<Row> {
  row: Row;
  /** Null on success. */
  failed: Cause | null;
}
interface Batch<Row> {
  /** The id is the same in all calls of the batch, so that the operation log lists them as one action. */
  send: (rows: readonly Row[], actionId: string) => Promise<void>;
  /** Names by which an error may refer to a row. */
  namesOf: (row: Row) => readonly string[];
  onProgress: (done: number) => void;
}

/** The API accepts this many rows in a call. */
const MAX_ROWS = 500;

/** Sends all rows. On an error, retries without the named rows; if none is named, one by one. */
export async function runBatch<Row>(rows: readonly Row[], batch: Batch<Row>): Promise<Outcome<Row>[]> {
  const outcomes = new Map<Row, Outcome<Row>>();
  const settle = (row: Row, failed: Cause | null) => {
    outcomes.set(row, { row, failed });
    batch.onProgress(outcomes.size);
  };
  const actionId = randomId();
  const run = async (some: readonly Row[]): Promise<void> => {
    try {
      await batch.send(some, actionId);
      for (const row of some) settle(row, null);
    } catch (error) {
      const named = refusedRows(error, some, batch.namesOf);
      for (const [row, cause] of named) settle(row, cause);
      const others = some.filter((row) => !named.has(row));
      if (named.size > 0 && others.length > 0) await run(others);
      else if (others.length > 1 && isAboutRows(error)) for (const row of others) await run([row]);
      else for (const row of others) settle(row, explain(error));
    }
  };
  for (let from = 0; from < rows.length; from += MAX_ROWS) await run(rows.slice(from, from + MAX_ROWS));
  return rows.flatMap((row) => outcomes.get(row) ?? []);
}

/** Whether retrying single rows may help. Permission, rate limit and server errors affect all rows. */
const isAboutRows = (error: unknown) => error instanceof ApiError && [400, 404, 409].includes(error.status);

interface Particular {
  rule: string;
  targets: readonly unknown[];
}
const particularOf = (item: unknown): Particular[] => {
  if (typeof item !== 'object' || item === null || !('rule' in item) || typeof item.rule !== 'string') return [];
  const targets = 'targets' in item && Array.isArray(item.targets) ? item.targets : 'id' in item ? [item.id] : [];
  return [{ rule: item.rule, targets }];
};

/** Rows named by an error, each with its cause. */
function refusedRows<Row>(error: unknown, rows: readonly Row[], namesOf: (row: Row) => readonly string[]) {
  const causes = new Map<unknown, Cause>();
  for (const { code, text, targets } of multipleOf(error))
    for (const target of targets) causes.set(target, { code, text });
  if (error instanceof ApiError && causes.size === 0)
    for (const { rule, targets } of error.envelope.errorData.flatMap(particularOf))
      for (const target of targets) causes.set(target, { code: error.envelope.code, text: ruleText(rule, '') });
  return new Map(
    rows.flatMap((row): [Row, Cause][] => {
      const name = namesOf(row).find((called) => causes.has(called));
      const cause = name === undefined ? undefined : causes.get(name);
      return cause ? [[row, cause]] : [];
    }),
  );
}
