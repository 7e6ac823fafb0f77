// Splits Mantine's single stylesheet by component, so that a chunk contains only the rules of its components. A
// development server uses the single file, because it bundles Mantine before plugins run.
import type { Plugin } from 'vite';

const id = 'virtual:mantine.css';
const component = /^(.*\/@mantine\/core)\/esm\/.*\/(\w+)\.module\.mjs$/;
/** Rules that belong to no component. */
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
