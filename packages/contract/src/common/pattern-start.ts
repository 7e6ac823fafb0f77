// How the matches of a pattern begin. Patterns are those of safePattern: no look-around, named groups or flags.

/** `slash`: a match may begin with /. `empty`: it may be empty, so that what follows decides. */
interface Start {
  slash: boolean;
  empty: boolean;
}

const WITH_SLASH: Start = { slash: true, empty: false };
const WITHOUT_SLASH: Start = { slash: false, empty: false };
const CAN_BE_EMPTY: Start = { slash: false, empty: true };

/** Whether a text that begins with / may match. False only where none does: `^images/`, `^(?:www|m)\.`. */
export function canMatchPath(pattern: string): boolean {
  const { slash, empty } = startOf(pattern, false);
  return slash || empty;
}

/** `isAnchored`: a match of the pattern begins where the text does. */
function startOf(pattern: string, isAnchored: boolean): Start {
  const starts = parseAlternatives(pattern).map((alternative) => startOfSequence(alternative, isAnchored));
  return { slash: starts.some(({ slash }) => slash), empty: starts.some(({ empty }) => empty) };
}

function startOfSequence(atoms: readonly Atom[], isAnchored: boolean): Start {
  let anchored = isAnchored;
  for (const { text, isOptional } of atoms) {
    if (text === '^') {
      anchored = true;
      continue;
    }
    const { slash, empty } = startOfAtom(text, anchored);
    if (slash) return WITH_SLASH;
    if (!empty && !isOptional) return WITHOUT_SLASH;
  }
  return CAN_BE_EMPTY;
}

function startOfAtom(text: string, isAnchored: boolean): Start {
  if (text.startsWith('(')) return startOf(text.slice(text.startsWith('(?:') ? 3 : 1, -1), isAnchored);
  // A match may begin at a later slash.
  if (!isAnchored) return WITH_SLASH;
  // At the text's start $ matches only an empty text, and a path is not empty.
  if (text === '$') return WITHOUT_SLASH;
  if (/^\\[bB]$/.test(text)) return CAN_BE_EMPTY;
  return { slash: matchesSlash(text), empty: false };
}

function matchesSlash(atom: string): boolean {
  try {
    return new RegExp(`^${atom}`, 'u').test('/');
  } catch {
    // An escape that only PCRE knows.
    return true;
  }
}

interface Atom {
  text: string;
  isOptional: boolean;
}

/** A character, class, escape or parenthesis. */
const ATOM = /\\x[0-9a-f]{2}|\\c[a-z]|\\[^]|\[(?:\\[^]|[^\]\\])*\]|[^]/giu;
const REPEAT = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/;

/** The atoms of each alternative of the outermost level. */
function parseAlternatives(pattern: string): Atom[][] {
  const found: Atom[][] = [[]];
  let [depth, atomStart] = [0, 0];
  for (const { 0: text, index } of pattern.matchAll(ATOM)) {
    if (text === '(') depth += 1;
    if (text === ')') depth -= 1;
    // Inside a group, or in the repeat of the last atom.
    if (depth > 0 || index < atomStart) continue;
    const end = index + text.length;
    const repeat = REPEAT.exec(pattern.slice(end))?.[0] ?? '';
    const atom = { text: pattern.slice(atomStart, end), isOptional: /^(?:[*?]|\{0[,}])/.test(repeat) };
    if (atom.text === '|') found.push([]);
    else found.at(-1)?.push(atom);
    atomStart = end + repeat.length;
  }
  return found;
}
