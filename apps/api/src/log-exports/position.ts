// The position of an export as it is stored. The release before runs beside this one and exports requests only, so it
// would write them into the file of another log. It fails at an unknown form of the position, before it writes rows.
import type { LogExportType } from '@edgeloom/contract/log-exports/log-exports.ts';
import * as z from 'zod';
import type { ExportPosition } from '../access-log/access-log.ts';

/** `place` distinguishes rows with the same time and id: a node may send an id twice. Older exports have none. */
const Position = z.object({ site: z.string(), at: z.string(), id: z.string(), place: z.string().optional() });
const OfOtherLog = z.object({ position: Position.nullable() });
/** Before the first row of such an export. */
export const otherLogStart = { position: null };

export const storedPosition = (log: LogExportType, position: ExportPosition | null) =>
  log === 'access' ? position : { position };

export const readPosition = (log: LogExportType, stored: unknown): ExportPosition | null =>
  log === 'access' ? Position.nullable().parse(stored) : OfOtherLog.parse(stored).position;
