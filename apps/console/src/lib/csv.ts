// CSV (RFC 4180) without formula injection.

/** Some programs detect UTF-8 only by its byte order mark. */
export const byteOrderMark = '\uFEFF';

const isNumber = /^-?\d+(\.\d+)?$/;

/**
 * Spreadsheets evaluate cells that begin like a formula, also in fullwidth characters. A leading apostrophe prevents
 * that.
 */
const isFormula = (cell: string) => /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/.test(cell) && !isNumber.test(cell);
const harmless = (cell: string) => (isFormula(cell) ? `'${cell}` : cell);

/** Some programs also split at semicolons or tabs, so such cells are quoted. */
const quoted = (cell: string) => (/[",;\t\r\n']|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

export const csvLine = (cells: readonly string[]) => `${cells.map((cell) => quoted(harmless(cell))).join(',')}\r\n`;
