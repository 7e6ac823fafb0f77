import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(import.meta.url);

/** The agent's entry point: the bundle, or the source file in the repository. */
export const program = here.endsWith('.ts') ? path.join(path.dirname(here), '../main.ts') : here;
