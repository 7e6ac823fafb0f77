// Browsers do not load the engines: the API compiles the pattern when it is saved.
import type { PatternError } from './pcre.ts';

export const patternError = (): PatternError | null => null;
