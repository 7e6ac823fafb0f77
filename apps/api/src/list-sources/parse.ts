// Reads the text of a subscribed list: one address, network or range per line, or in the first column of a CSV file.
// Runs in a worker thread (parse.worker.ts), because a long list takes up to a second.
import type { ListSourceError } from '@edgeloom/contract/list-sources/list-sources.ts';
import { EntryCollector, type ParsedList } from './entries.ts';

/** Longer lines are rejected unread, so that no line takes long. */
const MAX_LINE = 1024;

/** Fails with more entries, without any, with too many other lines, and if the entries cover half of all addresses. */
export function parseList(text: string, maxEntries: number): ParsedList | ListSourceError {
  const found = new EntryCollector(maxEntries);
  for (const [line] of text.replace(/^\uFEFF/, '').matchAll(/[^\r\n]+/g)) {
    const entry = line.length > MAX_LINE ? null : entryIn(line);
    if (entry === '') continue;
    found.add(entry);
    const error = found.error();
    if (error) return error;
  }
  const parsed = found.finish();
  // A page in place of the list, or an interrupted update of the file.
  return typeof parsed !== 'string' && parsed.entries.length === 0 ? 'noEntries' : parsed;
}

/** Empty: the line has only a comment. */
function entryIn(line: string): string {
  const [column = ''] = line.split(/[#;,]/, 1);
  const [first = '', dash, last = ''] = column.replaceAll('"', '').trim().split(/\s+/, 3);
  return (dash === '-' ? `${first}-${last}` : first).toLowerCase();
}
