// Gives public/first-paint.js the files that a page requests after its first script, so that they load in parallel.
import type { Plugin, Rolldown } from 'vite';

export function preload(): Plugin {
  return {
    name: 'edgeloom-preload',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle }) {
        if (!bundle) return html;
        const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
        const fileOf = (part: string) => {
          const chunk = chunks.find(({ moduleIds }) =>
            moduleIds.some((id) => id.endsWith(`/apps/console/src/${part}`)),
          );
          if (!chunk) throw new Error(`There is no chunk of ${part}`);
          return chunk;
        };
        const frame = fileOf('components/frame/frame.tsx');
        const words = (part: string) =>
          Object.fromEntries(
            ['zh-TW', 'zh-CN', 'en'].map((language) => [language, fileOf(`locales/${language}/${part}.ts`).fileName]),
          );
        const files = {
          words: words('words'),
          frameWords: words('frame'),
          pageWords: words('pages'),
          frame: [frame.fileName, ...stylesOf(frame)],
        };
        return html.replace('src="/first-paint.js"', `src="/first-paint.js" data-files='${JSON.stringify(files)}'`);
      },
    },
  };
}

const stylesOf = ({ viteMetadata }: Rolldown.OutputChunk) => [...(viteMetadata?.importedCss ?? [])];
