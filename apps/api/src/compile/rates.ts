import type { RateDoc } from '@edgeloom/contract/edge/documents.ts';
import type { Rate } from '@edgeloom/contract/rates/rates.ts';

/** Enabled rules, in order. */
export type RateRow = Pick<Rate, 'id' | 'type' | 'value' | 'rate' | 'after'>;

export const rateDocs = (rows: RateRow[]): { rates?: RateDoc[] } =>
  rows.length === 0
    ? {}
    : {
        rates: rows.map(({ id, type, value, rate, after }) => ({
          id,
          type,
          value,
          rate,
          after,
        })),
      };
