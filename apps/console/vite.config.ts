import { createRequire } from 'node:module';
import path from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { calls } from './build/calls.ts';
import { chunks } from './build/chunks.ts';
import { firstRoute } from './build/first-route.ts';
import { fonts } from './build/fonts.ts';
import { mantineCss } from './build/mantine-css.ts';
import { menuWords } from './build/menu-words.ts';
import { precompress } from './build/precompress.ts';
import { preload } from './build/preload.ts';
import { themeCss } from './build/theme-css.ts';

const api = process.env['EDGELOOM_API'] ?? 'http://127.0.0.1:8080';

// The package exports its development build only. Its production build is a few hundred bytes smaller and checks less.
const routerDom = createRequire(import.meta.url).resolve('react-router-dom');
const router = path.join(path.dirname(createRequire(routerDom).resolve('react-router')), '../production');

export default defineConfig({
  plugins: [react(), calls(), menuWords(), mantineCss(), themeCss(), fonts(), preload(), firstRoute(), precompress()],
  resolve: {
    alias: [
      { find: /^react-router$/, replacement: path.join(router, 'index.mjs') },
      { find: /^react-router\/dom$/, replacement: path.join(router, 'dom-export.mjs') },
    ],
  },
  server: { proxy: { '/api': api, '/branding': api } },
  preview: { proxy: { '/api': api, '/branding': api } },
  build: {
    outDir: 'dist',
    target: 'es2023',
    // A font or picture inlined as data: would need an exception in the content security policy.
    assetsInlineLimit: 0,
    // The polyfill is an inline script in some browsers; those that run the rest need none.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 600,
    rolldownOptions: { output: { codeSplitting: chunks() } },
  },
});
