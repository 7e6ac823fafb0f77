// The source of an export of each log: its rows, and the columns of its CSV.
import type { LogExportType } from '@edgeloom/contract/log-exports/log-exports.ts';
import { LogRow, LogSearch } from '@edgeloom/contract/logs/logs.ts';
import { SessionRow, SessionSearch } from '@edgeloom/contract/logs/sessions.ts';
import { WafLogRow, WafSearch } from '@edgeloom/contract/logs/waf.ts';
import type { ExportPosition, ReadProgress } from '../access-log/access-log.ts';
import { accessLogOf } from '../access-log/open.ts';
import type { Actor } from '../core/actor.ts';
import type { Installation } from '../core/installation.ts';
import { reading } from '../core/sql.ts';
import { forReader } from '../modules/logs/logs.service.ts';
import { readSessionsOn } from '../modules/logs/sessions.service.ts';
import { findingOf, wafFilterOf } from '../modules/logs/waf.service.ts';

type Row = LogRow | WafLogRow | SessionRow;
export interface ExportedRow {
  row: Row;
  position: ExportPosition;
  progress: number;
}

interface Source {
  /** Rows after a position, site by site and oldest first. `query`: as it was sent. */
  read: (
    installation: Pick<Installation, 'env' | 'pool'>,
    actor: Actor,
    query: unknown,
    reached: ExportPosition | null,
    limit: number,
  ) => Promise<ExportedRow[]>;
  csvColumns: readonly string[];
}

export const exportSources: Readonly<Record<LogExportType, Source>> = {
  access: {
    async read({ env, pool }, actor, query, reached, limit) {
      const rows = await accessLogOf({ env }).readOn(reading(pool)(actor), LogSearch.parse(query), reached, limit);
      return rows.map(({ explanation: _, wafRule: _rule, ...row }) =>
        exported(row, (bare) => forReader({ actor }, bare)),
      );
    },
    csvColumns: namesOf(LogRow, 'ruleName'),
  },
  waf: {
    async read({ env, pool }, actor, query, reached, limit) {
      const search = WafSearch.parse(query);
      const asked = { ...search, waf: wafFilterOf(search) };
      const rows = await accessLogOf({ env }).readOn(reading(pool)(actor), asked, reached, limit);
      return rows.map((row) => exported(row, (bare) => findingOf({ actor }, bare)));
    },
    csvColumns: [...namesOf(WafLogRow, 'ruleName', 'waf'), 'score', 'points', 'place', 'name', 'excerpt'],
  },
  sessions: {
    async read({ pool }, actor, query, reached, limit) {
      const rows = await readSessionsOn(reading(pool)(actor), SessionSearch.parse(query), reached, limit);
      return rows.map((row) => exported(row, (bare) => forReader({ actor }, bare)));
    },
    csvColumns: namesOf(SessionRow),
  },
};

/** A row of CSV has the firewall's explanation in columns of its own. */
export const csvRow = (row: Row): object => ('waf' in row ? { ...row, ...row.waf } : row);

function namesOf({ shape }: { shape: object }, ...without: readonly string[]): string[] {
  return Object.keys(shape).filter((name) => !without.includes(name));
}

interface Placed extends ReadProgress {
  id: string;
  time: Date;
}

function exported<Found extends Placed>(
  found: Found,
  shown: (row: Omit<Found, keyof ReadProgress>) => Row,
): ExportedRow {
  const { progress, site, place, ...row } = found;
  const { time, id } = found;
  return { row: shown(row), progress, position: { site, at: time.toISOString(), id, place } };
}
