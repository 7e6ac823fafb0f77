// Pushes documents to a zone's nodes by core NATS, without a stream. A node that missed a message notices by `previous`
// or its heartbeat, and requests it.
import { DOCUMENT_SCHEMA } from '@edgeloom/contract/edge/documents.ts';
import type { DocEntry, DocPush } from '@edgeloom/contract/edge/messages.ts';
import { subjects } from '@edgeloom/contract/subjects.ts';
import type { NatsConnection } from 'nats';

// Transfers in a few milliseconds and leaves room for other zones.
const CHUNK_BYTES = 512 * 1024;
/** Beyond this, nodes fetch pages at their own pace. */
const MAX_DOCS = 10_000;
const FLUSH_MS = 5000;

/** Announces a zone's revision. Nodes with another history notice by the digest. */
export const announcementOf = (zone: string, revision: number, digest: string): DocPush => ({
  schema: DOCUMENT_SCHEMA,
  zone,
  previous: revision,
  revision,
  digest,
  docs: [],
});

/** `docs` are ordered by revision, after `previous` up to `revision`. Chunks are chained by `previous`. */
export function pushesOf(
  zone: string,
  previous: number,
  revision: number,
  docs: DocEntry[],
  maxPayload: number,
  digest?: string,
): DocPush[] {
  const head = { schema: DOCUMENT_SCHEMA, zone };
  if (docs.length === 0 || docs.length > MAX_DOCS) return [{ ...head, previous, revision, digest, docs: [] }];

  const chunks: DocEntry[][] = [[]];
  let bytes = 0;
  for (const doc of docs) {
    const size = Buffer.byteLength(JSON.stringify(doc));
    const current = chunks.at(-1);
    if (current === undefined || (bytes + size > Math.min(CHUNK_BYTES, maxPayload / 2) && current.length > 0)) {
      chunks.push([doc]);
      bytes = size;
    } else {
      current.push(doc);
      bytes += size;
    }
  }
  let reached = previous;
  return chunks.map((chunk, i) => {
    const push = {
      ...head,
      previous: reached,
      revision: i === chunks.length - 1 ? revision : (chunk.at(-1)?.revision ?? revision),
    };
    reached = push.revision;
    const fits = Buffer.byteLength(JSON.stringify(chunk)) < maxPayload - 1024;
    return { ...push, ...(i === chunks.length - 1 && { digest }), docs: fits ? chunk : [] };
  });
}

/** Resolves when the server has accepted all of them. */
export async function sendPushes(nats: NatsConnection, pushes: readonly DocPush[]): Promise<void> {
  for (const push of pushes) nats.publish(subjects.zoneDocs(push.zone), JSON.stringify(push));
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('NATS does not answer')), FLUSH_MS);
  try {
    await Promise.race([nats.flush(), late]);
  } finally {
    clearTimeout(timer);
  }
}
