import type { Installation } from '../core/installation.ts';
import { nodeFault } from '../core/outbound.ts';
import { contexts } from '../core/secrets.ts';
import { StepFailure, type Login } from './host.ts';
import { findTarget, type Target } from './target.ts';

/** The node and its decrypted SSH credentials. */
export async function openLogin(
  { pool, env, secrets }: Installation,
  nodeId: string,
): Promise<{ target: Target; login: Login }> {
  const row = await findTarget(pool, nodeId);
  if (!row) throw new StepFailure('unreachable', 'the node was removed');
  const { user, sshPort, passwordSealed, keySealed, fingerprint, ...target } = row;
  if (user === null || sshPort === null || (passwordSealed === null && keySealed === null))
    throw new StepFailure('noCredentials', 'neither a password nor a key is stored for this node');
  // The address comes from an operator, so the outbound policy applies.
  const fault = nodeFault(row.ip, env);
  if (fault) throw new StepFailure('unreachable', `${row.ip}: ${fault}`);
  return {
    target,
    login: {
      host: row.ip,
      port: sshPort,
      user,
      password: passwordSealed === null ? null : secrets.open(passwordSealed, contexts.nodePassword(nodeId)),
      privateKey: keySealed === null ? null : secrets.open(keySealed, contexts.nodePrivateKey(nodeId)),
      fingerprint,
    },
  };
}
