// Prints steps with a mark, a title and a duration. On a terminal the running step shows its time; elsewhere a finished
// step is one line. Used before anything is installed, so plain JavaScript.

const isTerminal = process.stdout.isTTY;
const [green, red, dim, reset] = isTerminal ? ['\u001b[32m', '\u001b[31m', '\u001b[2m', '\u001b[0m'] : ['', '', '', ''];

/** Concurrent steps share one line. */
const running = new Map();
let timer;

/** Runs one step. `report(text)` changes the step's note. If `quiet(result)` is true, no line is printed. */
export async function step(name, task, { quiet = () => false } = {}) {
  const startedAt = performance.now();
  const me = Symbol(name);
  let note = '';
  const report = (text) => {
    note = text;
    draw();
  };
  running.set(me, () => `${name}${note === '' ? '' : `: ${note}`}`);
  timer ??= isTerminal ? setInterval(draw, 250) : undefined;
  draw();
  try {
    const result = await task(report);
    finish(me);
    if (!quiet(result))
      line(`${green}✓${reset} ${name}${note === '' ? '' : ` (${note})`} ${dim}${since(startedAt)}${reset}`);
    return result;
  } catch (error) {
    finish(me);
    line(`${red}✗${reset} ${name} ${dim}${since(startedAt)}${reset}`);
    throw error;
  }

  function draw() {
    if (!isTerminal || running.size === 0) return;
    const text = [...running.values()].map((say) => say()).join(', ');
    const width = (process.stdout.columns || 80) - 10;
    process.stdout.write(`\r\u001b[K${dim}…${reset} ${text.slice(0, width)} ${dim}${since(startedAt)}${reset}`);
  }
}

/** Prints a line above the running steps. */
export function line(text) {
  process.stdout.write(`${isTerminal ? '\r\u001b[K' : ''}${text}\n`);
}

/** An error for users, printed without its stack. */
export class Trouble extends Error {}

function finish(me) {
  running.delete(me);
  if (running.size > 0) return;
  clearInterval(timer);
  timer = undefined;
}

function since(startedAt) {
  const seconds = (performance.now() - startedAt) / 1000;
  return seconds < 60 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}
