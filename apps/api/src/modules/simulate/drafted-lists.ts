// Address lists that a draft changes, for simulated requests.
import { parseDoc } from '@edgeloom/contract/edge/documents.ts';
import { narrowList } from '../../compile/firewall.ts';
import type { Drafted, DraftedDocument } from '../../http/draft.ts';

/** With the ranges of these visitors only, because whole lists may be too large for a command. */
export async function draftedLists(
  { keys, changed }: Drafted,
  addresses: readonly string[],
): Promise<DraftedDocument[]> {
  const lists = await changed(keys.filter((key) => key.startsWith('list/')));
  return lists.map(({ key, body }) => ({ key, body: body === null ? null : narrowBody(key, body, addresses) }));
}

function narrowBody(key: string, body: string, addresses: readonly string[]): string {
  const doc = parseDoc(key, body);
  return doc.kind === 'list' ? JSON.stringify(narrowList(doc, addresses)) : body;
}
