// A zone may serve sites of several customers, and a port of its nodes leads to one of them. The answer says no more than
// the primary key would say by refusing: taken, not by whom.
import type { Installation } from './installation.ts';

export const portName = ({ port, protocol }: { port: number; protocol: string }) => `${port}/${protocol}`;

/** Those of the ports that somebody of the zone listens on. */
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
