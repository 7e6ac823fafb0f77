// One JSON object per line on stderr. Callers name each value and never pass secrets: tokens, seeds, keys, documents.

export type Facts = Record<string, unknown>;
export interface Log {
  info: (message: string, facts?: Facts) => void;
  warn: (message: string, facts?: Facts) => void;
  error: (message: string, facts?: Facts) => void;
}

const line =
  (level: string) =>
  (message: string, facts: Facts = {}) => {
    const shown = Object.entries(facts).map(([name, value]) => [name, value instanceof Error ? value.message : value]);
    const row = { time: new Date().toISOString(), level, message, ...Object.fromEntries(shown) };
    process.stderr.write(`${JSON.stringify(row)}\n`);
  };

export const stderrLog: Log = { info: line('info'), warn: line('warn'), error: line('error') };

export const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error));
