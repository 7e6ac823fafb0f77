/** The kinds of accounts. Each has its console and its part of the API. */
export type Family = 'user' | 'client' | 'admin';
/** `root` is mounted outside the families and serves all of them, or the one that a call names. */
export type Mount = Family | 'root';
