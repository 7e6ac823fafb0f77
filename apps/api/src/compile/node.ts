import type { NodeDoc } from '@edgeloom/contract/edge/documents.ts';

export interface NodeRow {
  id: string;
  enabled: boolean;
  /** A bigint column, as its text. */
  cacheMaxBytes: string;
}

export const nodeDoc = ({ id, enabled, cacheMaxBytes }: NodeRow): NodeDoc => ({
  kind: 'node',
  id,
  enabled,
  cacheMaxBytes: Number(cacheMaxBytes),
});
