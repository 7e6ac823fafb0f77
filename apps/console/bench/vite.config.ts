import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { precompress } from '../build/precompress.ts';

export default defineConfig({
  plugins: [react(), precompress()],
  build: { target: 'es2023', assetsInlineLimit: 0, modulePreload: { polyfill: false } },
});
