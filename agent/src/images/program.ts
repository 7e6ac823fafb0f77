import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(import.meta.url);

/** The agent's own: the bundle, or where it begins in the repository. */
export const program = here.endsWith('.ts') ? path.join(path.dirname(here), '../main.ts') : here;
