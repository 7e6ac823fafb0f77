// The nginx settings of a client's new zones.
import { snippetParts, type SnippetPart } from '@edgeloom/contract/zone-settings/directive-allowlist.ts';
import { settingsIn, type ZoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.ts';
import type { Ctx } from '../../core/ctx.ts';
import type { ScopedTx } from '../../core/scope.ts';
import { contentOf } from '../../zone-settings/zone-content.ts';
import { assertSound } from './snippet-check.ts';

export async function get({ db, actor }: Ctx, part: SnippetPart) {
  const row = await db.nginxDefault.findUnique({ where: { clientId_part: { clientId: actor.clientId, part } } });
  return { part, content: row?.content ?? '' };
}

export async function set(ctx: Ctx, part: SnippetPart, content: string) {
  const { clientId } = ctx.actor;
  const settings = await startingSettings(ctx.db, clientId);
  const nginx = { ...settings.nginx, [part]: content };
  const zone = contentOf({ settings: { ...settings, nginx }, forceSslRedirectCode: 301, ports: usualPorts });
  await assertSound(ctx, zone, () => 'content');
  await ctx.db.nginxDefault.upsert({
    where: { clientId_part: { clientId, part } },
    create: { clientId, part, content },
    update: { content },
  });
  return get(ctx, part);
}
const usualPorts = [
  { id: '00000000-0000-0000-0000-000000000001', port: 80, tls: false },
  { id: '00000000-0000-0000-0000-000000000002', port: 443, tls: true },
];

export async function startingSettings(db: ScopedTx, clientId: string): Promise<ZoneSettings> {
  const rows = await db.nginxDefault.findMany({ where: { clientId } });
  const settings = settingsIn({});
  const texts = Object.fromEntries(
    snippetParts.map((part) => [part, rows.find((row) => row.part === part)?.content ?? '']),
  );
  const enable = Object.values(texts).some((text) => text !== '');
  return { ...settings, nginx: { ...settings.nginx, ...texts, enable } };
}
