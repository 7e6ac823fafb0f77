// Where the requests themselves are stored, apart from their sums. Both stores answer the same tests.
import type { LogFilter, LogQuery, LogRow, LogSearch } from '@edgeloom/contract/logs/logs.ts';
import type { Pool, PoolClient } from 'pg';
import type { Read, Sql } from '../core/sql.ts';
import type { Line } from '../statistics/log-lines.ts';
import type { Partitions } from '../statistics/partitions.ts';
import type { FilteredSelection, Times } from '../statistics/selection.ts';
import type { StoredBatch } from '../statistics/stored-batches.ts';
import type { SearchResult } from './bounded-search.ts';

/** The lines of a batch, in the transaction that moves the node's position. */
export interface NewRequests {
  nodeId: string;
  zone: string;
  siteOf: (line: Line) => string;
  /** One of so many requests of its site is stored, or none (0). */
  samplingOf: (line: Line) => number;
  lines: readonly Line[];
  now: number;
}

/** The last row of an export so far. */
export interface ExportPosition {
  /** Or the zone, for requests of no site. */
  site: string;
  at: string;
  id: string;
  /** Distinguishes rows with the same time and id: a node may send an id twice. */
  place?: string | undefined;
}

/** How far an export is with a row. */
export interface ReadProgress {
  /** From 0 to 1. */
  progress: number;
  /** As in ExportPosition. */
  site: string;
  place: string;
}

/** How sums are needed: by steps of some seconds from the start of the time, by domain, or as one row. */
export type SumsBy = { seconds: number } | 'domain' | 'total';

export interface ValuesQuery {
  /** A number of `topTypes`. */
  type: number;
  top: number;
  sortBy: 'requests' | 'bytes';
}

/** `explanation`: of the firewall's finding, as the node wrote it. Empty: there is none. */
export interface Explained {
  explanation: string;
  /** As in waf-rule.ts. */
  wafRule: string;
}

/** Equal requests. */
export interface RequestGroup {
  address: string;
  country: string;
  method: string;
  scheme: string;
  host: string;
  port: number;
  uri: string;
  args: string;
  userAgent: string;
  referer: string;
  requests: number;
}

/** Only requests in which the firewall found something. */
export interface WafFilter {
  /** IDs of the rules that decided about it, or only monitored. */
  rules: readonly string[] | undefined;
  isMonitored: boolean | undefined;
}

export interface SearchOptions {
  /** The search ends after about this time. */
  limitMs: number;
  waf?: WafFilter;
}

/** Reads return only rows that `read` may see. */
export interface AccessLog {
  add(client: PoolClient, partitions: Partitions, requests: NewRequests): Promise<void>;
  /** After the transaction. */
  announce(pool: Pool, stored: Pick<StoredBatch, 'zone' | 'transaction'>, lines: readonly Line[]): Promise<void>;
  /** Moves what was added to where it is read. Null: add() does. */
  readonly ship: ((pool: Pool) => Promise<void>) | null;

  /** A page, newest first. Counts up to LOGS_COUNTED matches. */
  search(read: Read, query: LogQuery, options: SearchOptions): Promise<SearchResult<LogRow & Explained>>;
  /** `written`: the decision trail, as the node wrote it. */
  find(read: Read, reqID: string): Promise<(LogRow & Explained & { written: string }) | null>;
  /** The newest rows of batches, oldest first, and how many match. */
  readBatches(
    read: Read,
    query: { siteIDs: readonly string[] | undefined; filter: LogFilter },
    times: Times,
    batches: readonly StoredBatch[],
  ): Promise<{ rows: LogRow[]; matched: number }>;
  /** Site by site, oldest first. */
  readOn(
    read: Read,
    query: LogSearch & { waf?: WafFilter },
    reached: ExportPosition | null,
    limit: number,
  ): Promise<(LogRow & Explained & ReadProgress)[]>;

  /** For FROM, after the CTEs of seenSql: rows `t` with the columns of `traffic`. */
  sums(read: Read, selection: FilteredSelection, times: Times, by: SumsBy): Promise<Sql>;
  /** For FROM, after the CTEs of seenSql: rows `t` with the columns of `top_values`. */
  values(read: Read, selection: FilteredSelection, times: Times, query: ValuesQuery): Promise<Sql>;
  /** Equal requests that no rule and no node refused, the most frequent first. */
  groups(
    read: Read,
    selection: { siteID: string; limit: number },
    times: Times,
    timeoutMs: number,
  ): Promise<RequestGroup[]>;
  /** How many different addresses requests came from. */
  countAddresses(read: Read, selection: FilteredSelection, times: Times): Promise<number>;
}
