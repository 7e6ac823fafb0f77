/**
 * Calls `look` until it stops throwing and resolves with its result. After `within` milliseconds it throws the last
 * error.
 */
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
