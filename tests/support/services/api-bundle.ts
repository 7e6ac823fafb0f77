// The API in one file with its packages. It starts with two thirds of the CPU time of the sources' 2,000 files.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { alone, hashOf, root } from '../../../deploy/build.ts';

/** In the package's folder, so that packages that are not bundled are found. */
const outfile = path.join(root, 'apps/api/dist/main.mjs');
const stampFile = path.join(root, '.data/cache/api.built-from');
const own = 'tests/support/services/api-bundle.ts';
const sources = ['apps/api/src', 'packages/contract/src', 'packages/waf-rules/src', 'agent/src', 'pnpm-lock.yaml', own];

/** Packages with native code or workers, and a large one that is rarely loaded. */
const external = ['*.node', '@node-rs/argon2', 'ssh2', 'pino', 'jsdom'];

/** Modules find their workers and data files beside their source, not beside the bundle. */
const sourceUrls: Plugin = {
  name: 'source-urls',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/(?:apps\/api|packages\/contract|agent)\/src\/.*\.ts$/ }, async ({ path: file }) => {
      const text = await readFile(file, 'utf8');
      return { loader: 'ts', contents: text.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(file).href)) };
    }),
};

let bundled: Promise<string> | undefined;

/** Builds the bundle if the sources changed, once per process. Returns its path. */
export const apiBundle = (): Promise<string> => (bundled ??= alone(bundle));

async function bundle(): Promise<string> {
  const hash = await hashOf(sources);
  if ((await readFile(stampFile, 'utf8').catch(() => '')) === hash) return outfile;
  await build({
    entryPoints: [path.join(root, 'apps/api/src/main.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    external,
    minifyWhitespace: true,
    minifySyntax: true,
    sourcemap: true,
    logLevel: 'warning',
    plugins: [sourceUrls],
    // Packages in CommonJS require Node's modules.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
  });
  await writeFile(stampFile, hash);
  return outfile;
}
