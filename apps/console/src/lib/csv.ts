// Rows as CSV (RFC 4180) that a spreadsheet opens as text and never as a formula.

/** Some programs read UTF-8 only when it says so. */
export const byteOrderMark = '\uFEFF';

const isNumber = /^-?\d+(\.\d+)?$/;

/** Spreadsheets calculate a cell that begins like a formula, also in fullwidth letters. An apostrophe makes it text. */
const isFormula = (cell: string) => /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/.test(cell) && !isNumber.test(cell);
const harmless = (cell: string) => (isFormula(cell) ? `'${cell}` : cell);

/** Some programs also split cells at semicolons or tabs, so a cell with one is quoted. */
const quoted = (cell: string) => (/[",;\t\r\n']|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

export const csvLine = (cells: readonly string[]) => `${cells.map((cell) => quoted(harmless(cell))).join(',')}\r\n`;
