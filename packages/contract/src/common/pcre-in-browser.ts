// Browsers do not load the engines. The API checks the pattern when it is saved.
import type { PatternError } from './pcre.ts';

export const patternError = (): PatternError | null => null;
