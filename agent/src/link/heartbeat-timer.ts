// Sends heartbeats one after the other: two at once could arrive in the wrong order, and the older one would win.

export class HeartbeatTimer {
  readonly #send: () => Promise<number>;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isRunning = false;
  #isUnderWay = false;
  /** The heartbeat under way may lack what has changed since it was composed. */
  #isRequested = false;

  /** `send` returns the pause before the next heartbeat in milliseconds, also after an error. It never throws. */
  constructor(send: () => Promise<number>) {
    this.#send = send;
  }

  get isUnderWay(): boolean {
    return this.#isUnderWay;
  }

  start(): void {
    this.#isRunning = true;
    this.sendNow();
  }

  stop(): void {
    this.#isRunning = false;
    clearTimeout(this.#timer);
  }

  /** Sends a heartbeat now, or right after the one under way. */
  sendNow(): void {
    if (this.#isUnderWay) this.#isRequested = true;
    else if (this.#isRunning) this.#schedule(0);
  }

  #schedule(afterMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#run(), afterMs);
  }

  async #run(): Promise<void> {
    this.#isUnderWay = true;
    this.#isRequested = false;
    const pauseMs = await this.#send();
    this.#isUnderWay = false;
    if (this.#isRunning) this.#schedule(this.#isRequested ? 0 : pauseMs);
  }
}
