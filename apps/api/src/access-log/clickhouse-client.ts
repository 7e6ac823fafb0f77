// Statements to ClickHouse over HTTP. Values are parameters of the statement, and never part of its text.
import { Readable } from 'node:stream';
import { ClickHouseError, createClient } from '@clickhouse/client';
import type { Sql } from '../core/sql.ts';
import { columnNames, tableStatements, type ClickHouseSettings } from './clickhouse-tables.ts';

const REQUEST_TIMEOUT_MS = 30_000;
/** A read that takes longer is ended by the server. */
const MAX_READ_MS = 20_000;

/** The server ended a read that took too long. */
export const isTimeout = (error: unknown): boolean => error instanceof ClickHouseError && error.code === '159';

export class ClickHouse {
  readonly #client: ReturnType<typeof createClient>;
  readonly #settings: ClickHouseSettings;
  #prepared: Promise<void> | null = null;

  constructor(url: string, settings: ClickHouseSettings) {
    this.#settings = settings;
    this.#client = createClient({
      url,
      application: 'edgeloom',
      request_timeout: REQUEST_TIMEOUT_MS,
      // Lists of sites may be longer than a URL.
      use_multipart_params_auto: true,
      // Errors are thrown, and logged by the callers.
      log: { level: 127 },
    });
  }

  async read<Row>(statement: Sql, timeoutMs = MAX_READ_MS): Promise<Row[]> {
    await this.#prepare();
    const { query, params } = withParameters(statement);
    const result = await this.#client.query({
      query,
      query_params: params,
      format: 'JSONEachRow',
      clickhouse_settings: { max_execution_time: timeoutMs / 1000 },
    });
    return result.json<Row>();
  }

  /** Inserts rows in COPY's text format. A token that was used before inserts nothing; null: rows are not compared. */
  async insert(rows: Readable | string, token: string | null): Promise<void> {
    await this.#prepare();
    await this.#client.insert({
      table: 'access_log',
      columns: [columnNames[0] ?? '', ...columnNames.slice(1)],
      values: typeof rows === 'string' ? Readable.from([Buffer.from(rows)], { objectMode: false }) : rows,
      format: 'TabSeparated',
      clickhouse_settings: {
        date_time_input_format: 'best_effort',
        async_insert: 0,
        // The blocks of a repeated insert must be the same.
        input_format_parallel_parsing: 0,
        max_insert_threads: '1',
        ...(token === null ? { insert_deduplicate: 0 } : { insert_deduplicate: 1, insert_deduplication_token: token }),
      },
    });
  }

  async command(query: string): Promise<void> {
    await this.#prepare();
    await this.#client.command({ query });
  }

  async ping(): Promise<void> {
    const result = await this.#client.ping();
    if (!result.success) throw result.error;
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  /** Creates the table, once in a process. */
  #prepare(): Promise<void> {
    this.#prepared ??= this.#createTable().catch((error: unknown) => {
      this.#prepared = null;
      throw error;
    });
    return this.#prepared;
  }

  async #createTable(): Promise<void> {
    for (const query of tableStatements(this.#settings)) await this.#client.command({ query });
  }
}

type Value = Sql['values'][number];

/** Times are parameters in milliseconds: `fromUnixTimestamp64Milli` is part of the text. */
export function withParameters({ texts, values }: Sql): { query: string; params: Record<string, unknown> } {
  const query = texts.reduce((all, text, i) => `${all}${parameter(values[i - 1] ?? null, i - 1)}${text}`);
  return {
    query,
    params: Object.fromEntries(values.map((value, i) => [`v${i}`, value instanceof Date ? value.getTime() : value])),
  };
}

function parameter(value: Value, i: number): string {
  if (value instanceof Date) return `fromUnixTimestamp64Milli({v${i}:Int64}, 'UTC')`;
  if (typeof value === 'number') return `{v${i}:Int64}`;
  if (typeof value === 'string') return `{v${i}:String}`;
  if (Array.isArray(value)) return `{v${i}:Array(String)}`;
  throw new Error(`no parameter of ClickHouse: ${JSON.stringify(value)}`);
}
