import { createReadStream, createWriteStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, createBrotliCompress, createGzip } from 'node:zlib';
import type { Plugin } from 'vite';

/** `x.js.br` and `x.js.gz` beside each text file, so that the server compresses nothing. */
export function precompress(): Plugin {
  return {
    name: 'edgeloom-precompress',
    apply: 'build',
    writeBundle: {
      sequential: true,
      order: 'post',
      async handler({ dir = 'dist' }) {
        const files = await readdir(dir, { recursive: true });
        for (const file of files.filter((name) => /\.(js|css|html|svg|json)$/.test(name))) {
          const path = join(dir, file);
          if ((await stat(path)).size < 1024) continue;
          await pipeline(createReadStream(path), createGzip({ level: 9 }), createWriteStream(`${path}.gz`));
          const brotli = createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 9 } });
          await pipeline(createReadStream(path), brotli, createWriteStream(`${path}.br`));
        }
      },
    },
  };
}
