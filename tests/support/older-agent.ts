// An agent of before something: made from today's sources with a kind of documents, a module and an ability taken out, in TypeScript
// and in Lua alike. A bundle of an older commit would prove the same of that commit alone, and would be a binary in the repository.
import { cp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';

const root = path.join(import.meta.dirname, '../..');

/** What it does not know: forwards of ports, and the module that asks for tokens. */
const taken: Readonly<Record<string, readonly (readonly [from: string, to: string])[]>> = {
  'packages/contract/src/edge/documents.ts': [
    ["  'ipset',\n  'tokenAuth',\n", "  'ipset',\n"],
    ['  port: PortDoc,\n', ''],
    [`'acme', 'port', 'module'`, `'acme', 'module'`],
  ],
  'packages/contract/src/edge/module-doc.ts': [
    ['  TokenAuthDoc,\n', ''],
    ['  tokenAuth: Id.optional(),\n', ''],
  ],
  'agent/lua/edge/core/capabilities.lua': [[', tokenAuth = true', '']],
  'agent/lua/edge/core/modules.lua': [['    tokenAuth = require("edge.plugins.token_auth"),\n', '']],
};

async function older(file: string): Promise<string> {
  let text = await readFile(path.join(root, file), 'utf8');
  for (const [from, to] of taken[file] ?? []) {
    if (!text.includes(from))
      throw new Error(`${file} holds no ${from} any more: say here what an older agent has instead`);
    text = text.replace(from, to);
  }
  return text;
}

/** Into an empty folder. Answers what starts it. */
export async function buildOlderAgent(dir: string): Promise<{ command: string; args: string[] }> {
  const outfile = path.join(dir, 'agent.mjs');
  await build({
    entryPoints: [path.join(root, 'agent/src/main.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
    banner: {
      js: `import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);`,
    },
    plugins: [
      {
        name: 'older',
        setup: ({ onLoad }) =>
          onLoad({ filter: /contract\/src\/edge\/(?:documents|module-doc)\.ts$/ }, async ({ path: file }) => ({
            contents: await older(path.relative(root, file)),
            loader: 'ts',
          })),
      },
    ],
  });
  await cp(path.join(root, 'agent/lua'), path.join(dir, 'lua'), { recursive: true });
  for (const file of Object.keys(taken).filter((name) => name.endsWith('.lua')))
    await writeFile(path.join(dir, path.relative('agent', file)), await older(file));
  return { command: process.execPath, args: [outfile] };
}
