// Mantine's stylesheet is one file for all its components. Here each component brings its own rules, so that a chunk has those of
// its components alone. A development server takes the one file: it bundles Mantine before plugins see it.
import type { Plugin } from 'vite';

const id = 'virtual:mantine.css';
const component = /^(.*\/@mantine\/core)\/esm\/.*\/(\w+)\.module\.mjs$/;
/** What belongs to no component. */
const base = ['baseline', 'default-css-variables', 'global'].map((name) => `styles/${name}.layer.css`);

export function mantineCss(): Plugin {
  let isBuild = false;
  return {
    name: 'edgeloom-mantine-css',
    configResolved: ({ command }) => void (isBuild = command === 'build'),
    resolveId: (source) => (source === id ? `\0${id}.js` : null),
    load(source) {
      if (source !== `\0${id}.js`) return null;
      const files = isBuild ? base : ['styles.layer.css'];
      return files.map((file) => `import '@mantine/core/${file}';`).join('\n');
    },
    transform(code, source) {
      const [, core, name] = component.exec(source) ?? [];
      return name === undefined || !isBuild
        ? null
        : { code: `import '${core}/styles/${name}.layer.css';\n${code}`, map: null };
    },
  };
}
