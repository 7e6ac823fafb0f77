// `zones.json?menu` has only the words that menus need of `zones.json`. The phrases of all pages were a fifth of the
// script of a dashboard, so pages load them (src/locales/en/pages.ts).
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Plugin } from 'vite';

const query = '?menu';
const menuKeys = ['title', 'create', 'defaults'];
/** Chunks that are loaded before the phrases of pages. */
const earlyChunks = ['main', 'frame', 'drawings'];

export function menuWords(): Plugin {
  /** `zones.empty`, of features of which the frame has the menu's words. */
  const ofPages = new Set<string>();
  return {
    name: 'edgeloom-menu-words',
    enforce: 'pre',
    async load(id) {
      if (!id.endsWith(`.json${query}`)) return null;
      const file = id.slice(0, -query.length);
      const words = Object.entries<unknown>(JSON.parse(await readFile(file, 'utf8')));
      for (const [key] of words) if (!menuKeys.includes(key)) ofPages.add(`${path.basename(file, '.json')}.${key}`);
      const menu = Object.fromEntries(words.filter(([key]) => menuKeys.includes(key)));
      return { code: `export default ${JSON.stringify(menu)};`, moduleType: 'js' };
    },
    generateBundle(_, bundle) {
      const missing = Object.values(bundle).flatMap((file) =>
        file.type === 'chunk' && earlyChunks.includes(file.name)
          ? wordsIn(file.code).filter((word) => ofPages.has(word))
          : [],
      );
      if (missing.length > 0)
        this.error(`The frame uses words of pages: ${missing.join(', ')}. Add their features to locales/*/frame.ts`);
    },
  };
}

/** The first two parts of keys in built code: `"zones.empty.title"`, `` `zones.kinds.${kind}` ``. */
const wordsIn = (code: string) =>
  [...code.matchAll(/["'`](\w+\.\w+)[\w.]*(?:["'`]|\$\{)/g)].map(([, word = '']) => word);
