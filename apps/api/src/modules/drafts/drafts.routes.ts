import { drafts as endpoints } from '@edgeloom/contract/drafts/drafts.endpoints.ts';
import type { DraftCall } from '@edgeloom/contract/drafts/drafts.ts';
import type { Ctx } from '../../core/ctx.ts';
import { routes } from '../../http/bind.ts';
import type { Drafts } from '../../http/draft.ts';
import * as versions from '../versions/versions.service.ts';

export const draftsRoutes = (drafts: Drafts) =>
  routes(endpoints, {
    run: (ctx, { params, body }) => run(drafts, ctx, params.siteId, body.calls),
  });

async function run(drafts: Drafts, ctx: Ctx, siteId: string, calls: DraftCall[]) {
  const began = performance.now();
  const outcome = await drafts(ctx, siteId, calls, async ({ keys, changed }) => ({
    ...(await versions.drafted(ctx, siteId)),
    documents: (await changed(keys)).length,
  }));
  return { ...outcome, ms: Math.round(performance.now() - began) };
}
