// Rows as CSV (RFC 4180) that a spreadsheet opens as text and never as a formula.

/** Some programs read UTF-8 only when it says so. */
export const byteOrderMark = '\uFEFF';

const isNumber = /^-?\d+(\.\d+)?$/;

/**
 * A cell that begins as a formula does, in the wide letters of Chinese keyboards as well, would be calculated where it is
 * opened: the apostrophe makes it text.
 */
const harmless = (cell: string) => (/^[=+\-@＝＋－＠\t\r\n]/.test(cell) && !isNumber.test(cell) ? `'${cell}` : cell);

const quoted = (cell: string) => (/[",\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

export const csvLine = (cells: readonly string[]) => `${cells.map((cell) => quoted(harmless(cell))).join(',')}\r\n`;
