import type { NodeDoc } from '@edgeloom/contract/edge/documents.ts';

export interface NodeRow {
  id: string;
  enabled: boolean;
  /** A bigint column as text. */
  cacheMaxBytes: string;
  cacheDir: string;
  drainEndsAt: Date | null;
  portType: string;
  logRotateSeconds: number;
  packetSize: number | null;
  windowSize: number | null;
  kind: string;
  relayPort: number;
}

export const nodeDoc = ({
  id,
  enabled,
  cacheMaxBytes,
  cacheDir,
  drainEndsAt,
  portType,
  logRotateSeconds,
  packetSize,
  windowSize,
  kind,
  relayPort,
}: NodeRow): NodeDoc => ({
  kind: 'node',
  id,
  enabled,
  cacheMaxBytes: Number(cacheMaxBytes),
  ...(cacheDir !== '' && { cacheDir }),
  ...(kind === 'relay' && { relayPort }),
  ...(!enabled && drainEndsAt !== null && { drainUntil: drainEndsAt.toISOString() }),
  ...((portType === '7' || portType === '4') && { portType }),
  ...(logRotateSeconds > 0 && { logRotateSeconds }),
  ...((packetSize !== null || windowSize !== null) && { geneva: { packetSize, windowSize } }),
});
