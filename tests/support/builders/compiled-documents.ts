// Documents as the control plane compiles them for nodes.
import type { Installation } from '@edgeloom/api/core/installation.ts';
import { originPolicy } from '@edgeloom/api/core/outbound.ts';
import { compileKeys } from '@edgeloom/api/node-link/load.ts';

export { MAX_DOCUMENT_BYTES } from '@edgeloom/api/core/document-weight.ts';

/** The documents' bodies by key. A body is null where the key has no document. */
export async function compileBodies(
  { pool, secrets, env }: Installation,
  zoneId: string,
  keys: readonly string[],
): Promise<Map<string, string | null>> {
  const client = await pool.connect();
  try {
    const compiled = await compileKeys(client, { secrets, policy: originPolicy(env) }, zoneId, keys);
    return new Map(
      compiled.map((one) => {
        if ('fault' in one) throw one.fault;
        return [one.key, one.body];
      }),
    );
  } finally {
    client.release();
  }
}

/** The body of a document that exists. */
export async function compileBody(installation: Installation, zoneId: string, key: string): Promise<string> {
  const body = (await compileBodies(installation, zoneId, [key])).get(key) ?? null;
  if (body === null) throw new Error(`no document ${key}`);
  return body;
}
