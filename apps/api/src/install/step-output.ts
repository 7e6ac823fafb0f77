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

  /** Stores the lines since the last call, after the earlier calls. The next call stores the lines of a failed one. */
  flush(store: (text: string) => Promise<void>): Promise<void> {
    const stored = this.#stored.then(() => this.#store(store));
    this.#stored = stored.catch(() => undefined);
    return stored;
  }

  async #store(store: (text: string) => Promise<void>): Promise<void> {
    const text = this.#text;
    if (text === '') return;
    await store(text);
    this.#text = this.#text.slice(text.length);
  }
}
