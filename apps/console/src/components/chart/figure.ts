import type { ChartUnit } from '@edgeloom/contract/charts/charts.ts';
import { bits, bytes, count, nothing, percent } from '../../lib/format.ts';

const units: Readonly<Record<ChartUnit, (value: number) => string>> = { byte: bytes, bit: bits, count, share: percent };
/** Missing data is a dash, not zero. */
export const figure = (unit: ChartUnit, value: number | null | undefined) =>
  value === null || value === undefined ? nothing : units[unit](value);

/** The newest measured value. That of an unfinished step counts only if there is no other. */
export const newest = (values: readonly (number | null)[], isUnfinished = false) =>
  (isUnfinished ? values.slice(0, -1) : values).findLast((value) => value !== null) ?? values.at(-1) ?? null;
