/** Why a pasted request cannot be simulated, in `simulate.paste` of the locales. */
type PasteReason = 'openQuote' | 'option' | 'value' | 'file' | 'noURL' | 'secondURL' | 'method';

export class PasteError extends Error {
  readonly reason: PasteReason;
  /** The option or method that the reason is about. */
  readonly subject: string;

  constructor(reason: PasteReason, subject = '') {
    super(`${reason} ${subject}`);
    this.reason = reason;
    this.subject = subject;
  }
}
