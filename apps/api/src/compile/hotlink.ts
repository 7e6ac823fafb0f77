import { comparedValues } from '@edgeloom/contract/common/paths.ts';
import { placeOf } from '@edgeloom/contract/common/redirect-target.ts';
import type { AntiHeaderDoc, AntiRefererDoc } from '@edgeloom/contract/edge/documents.ts';
import type { AntiHeader, AntiReferer } from '@edgeloom/contract/hotlink/hotlink.ts';

/** Enabled rules, in order. */
export type AntiRefererRow = Omit<AntiReferer, 'priority' | 'enabled' | 'createdAt' | 'updatedAt'>;
export type AntiHeaderRow = Omit<AntiHeader, 'priority' | 'enabled' | 'createdAt' | 'updatedAt'>;

/** Omitted when empty: the edge checks for presence only. */
export const antiRefererDocs = (rows: AntiRefererRow[]): { antiReferers?: AntiRefererDoc[] } =>
  rows.length === 0 ? {} : { antiReferers: rows.map(antiRefererDoc) };

export const antiHeaderDocs = (rows: AntiHeaderRow[]): { antiHeaders?: AntiHeaderDoc[] } =>
  rows.length === 0 ? {} : { antiHeaders: rows.map(antiHeaderDoc) };

function antiRefererDoc({ id, type, value, isBlack, referers, allowEmpty, target }: AntiRefererRow): AntiRefererDoc {
  const place = target === null ? null : placeOf(target);
  return {
    id,
    type,
    value: comparedValues({ type, value }),
    isBlack,
    referers,
    allowEmpty,
    ...(target !== null && place && { redirect: { url: target, ...place } }),
  };
}

const antiHeaderDoc = ({ id, name, operator, value, action }: AntiHeaderRow): AntiHeaderDoc => ({
  id,
  name: name.toLowerCase(),
  operator,
  value,
  action,
});
