import { stripVTControlCharacters } from 'node:util';

/** Collects the output of a step without secrets, until it is stored. */
export class StepOutput {
  readonly #secrets = new Set<string>();
  #text = '';
  #stored: Promise<void> = Promise.resolve();

  hide(secret: string): void {
    this.#secrets.add(secret);
  }

  add(line: string): void {
    let text = line;
    for (const secret of this.#secrets) text = text.replaceAll(secret, '•••');
    // PostgreSQL stores no NUL. Terminal control sequences are removed.
    this.#text += `${stripVTControlCharacters(text).replace(/[^\P{Cc}\t]/gu, '')}\n`;
  }

  /** Stores the lines since the last call, after the earlier calls have ended. A failed call leaves its lines to the next. */
  flush(store: (text: string) => Promise<void>): Promise<void> {
    const stored = this.#stored.then(async () => {
      const text = this.#text;
      if (text === '') return;
      await store(text);
      this.#text = this.#text.slice(text.length);
    });
    this.#stored = stored.catch(() => undefined);
    return stored;
  }
}
