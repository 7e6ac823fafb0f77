// The calls of an installation, and their bodies.
import { nodeJobs } from '@edgeloom/contract/node-jobs/node-jobs.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import type { InstallInput } from './use-install-form.ts';

export const useInstallCalls = () => ({
  hostKey: useAction(nodeJobs.hostKey, { quiet: true }),
  create: useAction(nodes.create, { refreshes: ['zones'], quiet: true }),
  update: useAction(nodes.update, { quiet: true }),
  rejoin: useAction(nodes.rejoin, { quiet: true }),
  initialize: useAction(nodeJobs.initialize, { refreshes: ['nodes'], quiet: true }),
  retry: useAction(nodeJobs.retry, { quiet: true }),
  cancel: useAction(nodeJobs.cancel),
});

/** Request bodies, with the confirmed host key. */
export function bodiesOf(input: InstallInput, fingerprint: string | null) {
  const { port, user, password, privateKey, fingerprint: pinned, zoneID, ...node } = input;
  const ssh = {
    port,
    user,
    fingerprint: fingerprint ?? pinned ?? null,
    ...(password !== undefined && { password }),
    ...(privateKey !== undefined && { privateKey }),
  };
  return { node, zoneID, ssh };
}
