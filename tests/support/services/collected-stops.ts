type Stop = () => unknown;

/**
 * For a `beforeAll` that starts several things: it calls `onEnd` beside each start, and `afterAll` calls `stopAll`.
 * `stopAll` calls every stop, the last one first, and throws their errors together at its end. A `beforeAll` that timed
 * out continues to start things: `stopAll` also calls the stops that are added while it runs, and afterwards `onEnd`
 * calls a stop at once.
 */
export function collectedStops(): { onEnd: (stop: Stop) => void; stopAll: () => Promise<void> } {
  const stops: Stop[] = [];
  let hasEnded = false;
  const onEnd = (stop: Stop) => {
    if (hasEnded) void callLate(stop);
    else stops.unshift(stop);
  };
  const stopAll = async () => {
    const errors: unknown[] = [];
    for (let stop = stops.shift(); stop !== undefined; stop = stops.shift()) {
      try {
        await stop();
      } catch (error) {
        errors.push(error);
      }
    }
    hasEnded = true;
    if (errors.length > 0) throw new AggregateError(errors, `not all stops succeeded: ${errors.join('; ')}`);
  };
  return { onEnd, stopAll };
}

/** No hook waits for it any more. An unhandled error would count as one of the test that runs now. */
async function callLate(stop: Stop) {
  try {
    await stop();
  } catch (error) {
    console.error('A late stop failed:', error);
  }
}
