type Stop = () => unknown;

/**
 * For a `beforeAll` that starts several things: it calls `onEnd` beside each start, and `afterAll` calls `stopAll`.
 * `stopAll` calls every stop, the last one first, and throws the errors together afterwards. From then on `onEnd` calls
 * a stop at once: a `beforeAll` that ran out of time goes on starting things.
 */
export function collectedStops(): { onEnd: (stop: Stop) => void; stopAll: () => Promise<void> } {
  const stops: Stop[] = [];
  let hasEnded = false;
  const onEnd = (stop: Stop) => void (hasEnded ? stop() : stops.unshift(stop));
  const stopAll = async () => {
    hasEnded = true;
    const errors: unknown[] = [];
    for (const stop of stops.splice(0)) {
      try {
        await stop();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, `not all stops succeeded: ${errors.join('; ')}`);
  };
  return { onEnd, stopAll };
}
