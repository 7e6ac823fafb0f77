// A font that arrives after the first paint moves what a visitor is about to press. So the one that every page needs
// loads beside the script, and `font-display: optional` keeps the system's font on a page where it was too late.
import type { Plugin } from 'vite';

export function fonts(): Plugin {
  return {
    name: 'edgeloom-fonts',
    enforce: 'pre',
    transform: {
      filter: { id: /@fontsource.*\.css$/ },
      handler: (css) => css.replaceAll('font-display: swap', 'font-display: optional'),
    },
    transformIndexHtml: {
      order: 'post',
      handler(_, { bundle }) {
        if (!bundle) return [];
        const file = Object.keys(bundle).find((name) => /ibm-plex-sans-latin-wght-normal.*\.woff2$/.test(name));
        if (!file) throw new Error('The build has no IBM Plex Sans');
        const attrs = { rel: 'preload', as: 'font', type: 'font/woff2', crossorigin: true, href: `/${file}` };
        return [{ tag: 'link', attrs, injectTo: 'head' }];
      },
    },
  };
}
