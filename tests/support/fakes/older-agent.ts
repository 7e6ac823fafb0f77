// Builds an older agent from today's sources by removing a document kind, a module and a capability, in TypeScript and
// Lua.
import { cp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';

const root = path.join(import.meta.dirname, '../../..');

/** The removed features: port forwards and the token-auth module. */
const removedFeatures: Readonly<Record<string, readonly (readonly [from: string, to: string])[]>> = {
  'packages/contract/src/edge/documents.ts': [
    ["  'siteFirewall',\n  'tokenAuth',\n", "  'siteFirewall',\n"],
    ['  port: PortDoc,\n', ''],
    ["  'port',\n  'module',\n", "  'module',\n"],
  ],
  'packages/contract/src/edge/module-doc.ts': [
    ['  TokenAuthDoc,\n', ''],
    ['  tokenAuth: Id.optional(),\n', ''],
  ],
  'agent/lua/edge/core/capabilities.lua': [[', tokenAuth = true', '']],
  'agent/lua/edge/core/modules.lua': [['    tokenAuth = require("edge.plugins.token_auth"),\n', '']],
};

async function readWithoutFeatures(file: string): Promise<string> {
  let text = await readFile(path.join(root, file), 'utf8');
  for (const [from, to] of removedFeatures[file] ?? []) {
    if (!text.includes(from))
      throw new Error(`${file} holds no ${from} any more: say here what an older agent has instead`);
    text = text.replace(from, to);
  }
  return text;
}

/** Builds into an empty folder. Returns the command that starts the agent. */
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
            contents: await readWithoutFeatures(path.relative(root, file)),
            loader: 'ts',
          })),
      },
    ],
  });
  await cp(path.join(root, 'agent/lua'), path.join(dir, 'lua'), { recursive: true });
  for (const file of Object.keys(removedFeatures).filter((name) => name.endsWith('.lua')))
    await writeFile(path.join(dir, path.relative('agent', file)), await readWithoutFeatures(file));
  return { command: process.execPath, args: [outfile] };
}
