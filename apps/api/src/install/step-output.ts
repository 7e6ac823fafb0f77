import { stripVTControlCharacters } from 'node:util';

/** Collects the output of a step without secrets, until it is stored. */
export class StepOutput {
  readonly #secrets = new Set<string>();
  #text = '';

  hide(secret: string): void {
    this.#secrets.add(secret);
  }

  add(line: string): void {
    let text = line;
    for (const secret of this.#secrets) text = text.replaceAll(secret, '•••');
    // PostgreSQL stores no NUL. Terminal control sequences are removed.
    this.#text += `${stripVTControlCharacters(text).replace(/[^\P{Cc}\t]/gu, '')}\n`;
  }

  /** Returns the lines since the last call. */
  take(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }
}
