import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import en from '../../locales/en/antiCC.json' with { type: 'json' };
import zhCN from '../../locales/zh-CN/antiCC.json' with { type: 'json' };
import zhTW from '../../locales/zh-TW/antiCC.json' with { type: 'json' };

test('the preview says what the edge says to visitors', async () => {
  const file = path.join(import.meta.dirname, '../../../../../agent/lua/edge/anti_cc/words.lua');
  const lua = await readFile(file, 'utf8');
  for (const { page } of [en, zhCN, zhTW])
    for (const words of [page.title, page.why, ...Object.values(page.modes), page.send, page.press])
      expect(lua).toContain(`"${words}"`);
});
