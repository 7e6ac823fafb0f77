import { verifyAudit, type Fault } from '@edgeloom/api/core/audit-chain.ts';
import type { Installation } from '@edgeloom/api/core/installation.ts';

/** The first fault of each chain of the audit log. */
export async function auditFaults({ pool }: Installation): Promise<Fault[]> {
  const found: Fault[] = [];
  for await (const { fault } of verifyAudit(pool)) if (fault) found.push(fault);
  return found;
}
