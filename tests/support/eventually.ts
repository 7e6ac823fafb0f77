/** Waits for something to become true: calls `look` until it stops throwing and answers what it answers. Past `within`
 *  (milliseconds, a bound for a broken product rather than a claim about speed) it throws what `look` threw last. */
export async function eventually<T>(
  look: () => T | Promise<T>,
  { within = 20_000 }: { within?: number } = {},
): Promise<T> {
  const deadline = Date.now() + within;
  for (let pause = 5; ; pause = Math.min(pause * 2, 100)) {
    try {
      return await look();
    } catch (error) {
      if (Date.now() >= deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
