// A zone may serve several customers, and each port of its nodes belongs to one. The result reveals only that a port is
// taken, as the primary key would.
import type { Installation } from './installation.ts';

export const portName = ({ port, protocol }: { port: number; protocol: string }) => `${port}/${protocol}`;

/** The ports among these that a site of the zone uses. */
export async function claimedPorts(
  { pool }: Pick<Installation, 'pool'>,
  zoneId: string,
  ports: readonly number[],
): Promise<Set<string>> {
  const { rows } = await pool.query<{ port: number; protocol: string }>(
    'SELECT port, protocol FROM port_claims WHERE zone_id = $1 AND port = ANY($2::int[])',
    [zoneId, ports],
  );
  return new Set(rows.map(portName));
}
