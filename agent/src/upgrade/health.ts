// Compares a node's health before and after an upgrade. Earlier errors are not blamed on the new release.
import { NginxState } from '@edgeloom/contract/edge/messages.ts';
import * as z from 'zod';

export const Health = z.object({
  nginx: NginxState,
  error: z.string().nullable(),
  rejected: z.array(z.string()),
});
export type Health = z.output<typeof Health>;

/** The first value that got worse, or null. `isFinal`: waiting is useless. */
export function compareHealth(before: Health, now: Health): { fault: string; isFinal: boolean } | null {
  const refused = now.rejected.find((key) => !before.rejected.includes(key));
  if (refused !== undefined)
    return { fault: `it refuses the document ${refused}, which the one before took`, isFinal: true };
  if (now.nginx === 'rolledBack' && before.nginx !== 'rolledBack')
    return { fault: `nginx does not serve the documents: ${now.error ?? ''}`, isFinal: true };
  if (now.nginx === 'stopped' && before.nginx !== 'stopped')
    return { fault: `nginx does not run${now.error === null ? '' : `: ${now.error}`}`, isFinal: false };
  if (now.nginx === 'unresponsive' && before.nginx !== 'unresponsive')
    return { fault: now.error ?? 'nginx does not respond', isFinal: false };
  if (now.error !== null && before.error === null) return { fault: now.error, isFinal: false };
  return null;
}
