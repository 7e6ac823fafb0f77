import { expect, test, vi } from 'vitest';
import { FollowedDocuments } from './followed-documents.ts';

/** Follows certificates that do not exist: `cert` is then called without a document. */
function follow(deps: { cert: (key: string) => Promise<void>; settled?: () => Promise<void> }) {
  const warnings: string[] = [];
  const documents = new FollowedDocuments({
    store: { keys: () => new Map<string, never>().keys(), read: () => Promise.resolve(null) },
    host: () => undefined,
    closed: () => Promise.resolve(),
    webp: () => undefined,
    settled: () => Promise.resolve(),
    ...deps,
    log: { info: () => undefined, warn: (message) => void warnings.push(message), error: () => undefined },
  });
  return { documents, warnings };
}

// Such a change was once read only with the next one.
test('a document that changes while the first reading settles is read', async () => {
  const settling = Promise.withResolvers<void>();
  const settled = vi.fn<() => Promise<void>>(() => settling.promise);
  const read = Promise.withResolvers<string>();
  const { documents } = follow({ cert: (key) => Promise.resolve(read.resolve(key)), settled });
  documents.changed('all');
  await vi.waitFor(() => expect(settled).toHaveBeenCalledOnce(), { timeout: 30_000 });
  documents.changed(['cert/late']);
  settling.resolve();
  expect(await read.promise).toBe('cert/late');
  expect(settled).toHaveBeenCalledOnce();
});

test('an error of one document stops neither the others nor the first settling', async () => {
  const keys = Array.from({ length: 40 }, (_, i) => `cert/${i}`);
  const followed: string[] = [];
  const settled = Promise.withResolvers<void>();
  const { documents, warnings } = follow({
    cert: (key) => {
      followed.push(key);
      return key === 'cert/0' ? Promise.reject(new Error('the disk failed')) : Promise.resolve();
    },
    settled: () => Promise.resolve(settled.resolve()),
  });
  documents.changed(keys);
  await settled.promise;
  expect(followed).toEqual(keys);
  expect(warnings).toEqual(['a document could not be followed']);
});

test('an error while settling does not stop later documents', async () => {
  const read = Promise.withResolvers<string>();
  const settling = Promise.withResolvers<void>();
  const { documents, warnings } = follow({
    cert: (key) => Promise.resolve(read.resolve(key)),
    settled: () => settling.promise,
  });
  documents.changed('all');
  settling.reject(new Error('the disk failed'));
  documents.changed(['cert/late']);
  expect(await read.promise).toBe('cert/late');
  expect(warnings).toHaveLength(1);
});
