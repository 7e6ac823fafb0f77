import { hash, verify } from '@node-rs/argon2';

// OWASP's second choice for argon2id: 19 MiB, two passes; some 25 ms of one core.
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

export const hashPassword = (password: string) => hash(password, cost);

let dummy: Promise<string> | undefined;

/** An account without a password, or no account at all, takes as long as a wrong password does. */
export async function isPassword(stored: string | null, password: string): Promise<boolean> {
  const isRight = await verify(stored ?? (await (dummy ??= hashPassword('nobody has this one'))), password);
  return stored !== null && isRight;
}
