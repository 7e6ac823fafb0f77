// A fixed sequence of commits to a document store, which resumes at the store's revision. Also runs as a program.
import { truncate } from 'node:fs/promises';
import path from 'node:path';
import { sha256 } from '@edgeloom/contract/edge/digest.ts';
import { DocumentStore } from '@edgeloom/agent/store/documents.ts';
import type { Change } from '@edgeloom/agent/store/documents.ts';

const put = (key: string, revision: number): Change => {
  const body = JSON.stringify({ key, revision, padding: 'x'.repeat(revision % 7) });
  return { key, revision, sha256: sha256(body), body };
};
const remove = (key: string, revision: number): Change => ({ key, revision, sha256: sha256(''), body: null });

/** Small commits, then a large one, then updates and removals. */
export const commits: readonly { changes: Change[]; reached: number }[] = [
  { changes: [put('zone', 1), put('host/a.example.com', 2)], reached: 2 },
  { changes: Array.from({ length: 20 }, (_, i) => put(`host/n${i}.example.com`, 3 + i)), reached: 22 },
  {
    changes: [
      put('zone', 23),
      put('host/n1.example.com', 24),
      remove('host/n2.example.com', 25),
      put('host/*.b.example.com', 26),
    ],
    reached: 26,
  },
  { changes: [remove('host/a.example.com', 27), put('host/n2.example.com', 28)], reached: 28 },
];

/** Expected content at a revision: key → revision. */
export function stateAt(revision: number): Map<string, number> {
  const state = new Map<string, number>();
  for (const { changes, reached } of commits) {
    if (reached > revision) break;
    for (const change of changes) {
      if (change.body === null) state.delete(change.key);
      else state.set(change.key, change.revision);
    }
  }
  return state;
}

/** `cutAt` truncates the manifest to its first line just before the commit of this revision. */
export async function applyCommits(dir: string, cutAt?: number): Promise<DocumentStore> {
  const store = await DocumentStore.open(dir);
  for (const { changes, reached } of commits) {
    if (reached === cutAt) await truncate(path.join(dir, 'manifest'), 'edgeloom-manifest 1\n'.length);
    if (reached > store.revision) await store.commit(changes, reached);
  }
  return store;
}

if (import.meta.main) {
  const [, , dir = '', cutAt] = process.argv;
  await (await applyCommits(dir, cutAt === undefined ? undefined : Number(cutAt))).close();
}
