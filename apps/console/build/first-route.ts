import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

/** All script that the sign-in form loads before it can be used. React, Mantine and the router alone are 120 KB. */
const route = ['src/main.tsx', 'src/locales/zh-TW/words.ts'];
const firstPaint = path.join(import.meta.dirname, '../public/first-paint.js');
const limit = 150_000;

export function firstRoute(): Plugin {
  return {
    name: 'edgeloom-first-route',
    // A development build carries React's checks, which nobody downloads.
    apply: (_, { command, mode }) => command === 'build' && mode === 'production',
    generateBundle(_, bundle) {
      const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
      const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
      const loaded = new Set<string>();
      const load = (name: string) => {
        const chunk = byName.get(name);
        if (!chunk || loaded.has(name)) return;
        loaded.add(name);
        for (const imported of chunk.imports) load(imported);
      };
      for (const part of route) {
        const chunk = chunks.find(({ moduleIds }) => moduleIds.some((id) => id.endsWith(`/apps/console/${part}`)));
        if (!chunk) this.error(`The first route has no chunk of ${part}`);
        load(chunk.fileName);
      }
      const scripts = [...loaded].map((name) => [name, byName.get(name)?.code ?? ''] as const);
      const sizes = [...scripts, ['first-paint.js', readFileSync(firstPaint)] as const].map(
        ([name, script]) => [name, gzipSync(script, { level: 9 }).length] as const,
      );
      const total = sizes.reduce((sum, [, size]) => sum + size, 0);
      const kilo = (bytes: number) => `${(bytes / 1000).toFixed(1)} KB`;
      const parts = sizes.toSorted((a, b) => b[1] - a[1]).map(([name, size]) => `  ${kilo(size).padStart(9)}  ${name}`);
      console.log(`\nFirst route, script gzipped: ${kilo(total)} of ${kilo(limit)}\n${parts.join('\n')}`);
      if (total > limit) this.error(`The first route carries ${kilo(total)} of script; the limit is ${kilo(limit)}`);
    },
  };
}
