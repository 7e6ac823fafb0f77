import { createReadStream } from 'node:fs';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { mayFetch } from '../../releases/holder.ts';
import { bySha256, releasesIn } from '../../releases/store.ts';

/** The archive from a byte offset: a node resumes an interrupted download. */
export async function archive(
  { caller, installation, now }: Ctx,
  sha256: string,
  from: number,
): Promise<AsyncIterable<Uint8Array>> {
  const token = caller.bearer ?? fail('INVALID_TOKEN');
  if (!(await mayFetch(installation, token, sha256, now()))) fail('INVALID_TOKEN');
  const { file } = bySha256(await releasesIn(installation.env), sha256) ?? fail('NOT_FOUND');
  return createReadStream(file, { start: from });
}
