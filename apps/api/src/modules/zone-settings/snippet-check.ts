// Checks nginx snippets against the list of allowed directives, then with nginx itself, before they are stored.
import { randomUUID } from 'node:crypto';
import type { ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import { snippetFaults, snippetParts, type SnippetPart } from '@edgeloom/contract/zone-settings/directive-allowlist.ts';
import type { ConfigPreview, SnippetFaultAt, ZoneContent } from '@edgeloom/contract/zone-settings/zone-settings.ts';
import { zoneDoc } from '../../compile/zone.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { askNginx, findLua } from '../../nginx-jail/nginx-jail.ts';

export interface Checked {
  faults: SnippetFaultAt[];
  checks: ConfigPreview['checks'];
}

/** The zone document as nodes receive it, without the parts that operators cannot set. */
export const docOf = (content: ZoneContent): ZoneDoc =>
  zoneDoc({ ...content, id: ZONE, settings: content, relays: [] }, { deny: [], allow: [] });
const ZONE = randomUUID();

/** Also checks snippets that are switched off, so that errors do not appear only when they are switched on. */
export async function check(ctx: Ctx, content: ZoneContent): Promise<Checked> {
  const { nginx } = content;
  const faults = snippetParts.flatMap((part) => snippetFaults(part, nginx[part]).map((fault) => ({ part, ...fault })));
  if (faults.length > 0) return { faults, checks: [] };
  const used = { ...content, nginx: { ...nginx, enable: true } };
  const answers = await oneAtATime(ctx, () => askNginx(ctx.installation.env.NGINX_BINARY, docOf(used), findLua()));
  const errors = answers
    .flatMap(({ fault: one }) => one ?? [])
    .map(({ file, line, message }) => {
      const part = partOf.get(file) ?? snippetParts.find((one) => nginx[one] !== '') ?? 'http';
      return { part, line: Math.max(line, 1), column: 1, rule: 'nginx' as const, about: message };
    });
  const seen = new Set<string>();
  return {
    faults: errors.filter(({ part, line }) => !seen.has(`${part}:${line}`) && seen.add(`${part}:${line}`)),
    checks: answers.map(({ form, state, nginx: name, tookMs }) => ({ name: form, state, nginx: name, tookMs })),
  };
}

const MOST_WAITING = 4;
const turns = new Map<string, { last: Promise<unknown>; count: number }>();

/**
 * One check at a time per operator: a snippet can keep nginx busy up to the jail's time limit, and other operators must
 * not wait for it.
 */
async function oneAtATime<T>({ actor: { rootId } }: Ctx, work: () => Promise<T>): Promise<T> {
  const { last, count } = turns.get(rootId) ?? { last: Promise.resolve(), count: 0 };
  if (count >= MOST_WAITING) fail('RATE_LIMITED', { extra: { retryAfterSeconds: 5 } });
  const own = last.then(work, work);
  const turn = { last: own, count: count + 1 };
  turns.set(rootId, turn);
  try {
    return await own;
  } finally {
    const now = turns.get(rootId) ?? turn;
    if (now.count === 1) turns.delete(rootId);
    else now.count -= 1;
  }
}

/** Each snippet's file and the setting it belongs to. */
const partOf = new Map<string, SnippetPart>([
  ['snippet-main.conf', 'worker'],
  ['snippet-events.conf', 'worker'],
  ['snippet-shared.conf', 'http'],
  ['snippet-visitors.conf', 'http'],
  ['snippet-origins.conf', 'custom'],
  ['snippet-stream.conf', 'stream'],
]);

/** Fails with the position of each error. Without nginx nothing is stored: a node would be the first to try it. */
export async function assertSound(
  ctx: Ctx,
  content: ZoneContent,
  pathOf: (part: SnippetPart) => string,
): Promise<void> {
  if (snippetParts.every((part) => content.nginx[part] === '')) return;
  const { faults, checks } = await check(ctx, content);
  if (faults.length > 0)
    fail('PARAMETER', {
      errorData: faults.map(({ part, line, column, about }) => ({
        path: pathOf(part),
        rule: 'snippet',
        message: `line ${line}, column ${column}: ${about}`,
      })),
      extra: { faults },
    });
  const missing = checks.find(({ state }) => state === 'missing');
  if (missing) fail('SELF_CHECK_FAILED', { extra: { nginx: missing.nginx } });
}
