// An nginx and its trees. A new tree is staged, tested, swapped in, reloaded and probed. On any failure the last good
// tree serves again.
import type { NginxLayout } from '../layout.ts';
import type { Log } from '../log.ts';
import { ReloadPace } from './pace.ts';
import { markErrorLog, probe } from './probe.ts';
import { servingWorkers, untilNotServing } from './processes.ts';
import type { Process } from './processes.ts';
import { Nginx } from './supervisor.ts';
import { isSameTree, Trees } from './trees.ts';
import type { Tree } from './trees.ts';

interface Deps {
  binary: string;
  layout: NginxLayout;
  /** The generation of the responding workers. */
  readGeneration: () => Promise<number>;
  /** Lets kept connections close. */
  beforeReload?: () => Promise<void>;
  log: Log;
}

export class TreeServer {
  readonly nginx: Nginx;
  readonly trees: Trees;
  readonly pace: ReloadPace;
  readonly #errorLog: string;
  readonly #readGeneration: Deps['readGeneration'];
  readonly #beforeReload: Deps['beforeReload'];
  readonly #log: Log;

  constructor({ binary, layout, readGeneration, beforeReload, log }: Deps) {
    this.nginx = new Nginx(binary, layout, log);
    this.trees = new Trees(layout.conf);
    this.pace = new ReloadPace(layout.dir, log);
    this.#errorLog = layout.errorLog;
    this.#readGeneration = readGeneration;
    this.#beforeReload = beforeReload;
    this.#log = log;
  }

  /** Serves the last good tree, even if the documents differ. */
  async serveLast(): Promise<void> {
    const good = await this.trees.marked('good');
    if (good === null) return;
    if ((await this.trees.marked('current')) !== good) await this.trees.mark('current', good);
    // Keeps retrying when another program holds a port, even without a control plane.
    this.nginx.keep();
    await this.nginx.start().catch((error: unknown) => this.#log.error('nginx does not start', { error }));
  }

  /**
   * Returns whether another tree serves now. Throws why not. `check` runs before anything changes.
   * `isUrgent`: reloads without waiting for kept connections.
   */
  async serve(
    render: (generation: number) => Promise<Tree>,
    check?: () => Promise<void>,
    isUrgent = false,
  ): Promise<boolean> {
    const good = await this.trees.marked('good');
    if (good !== null && isSameTree(await render(good), await this.trees.read(good))) {
      await this.ensureServing(good);
      return false;
    }
    const generation = await this.trees.next();
    await check?.();
    await this.trees.stage(generation, await render(generation));
    try {
      await this.nginx.test(this.trees.confFile(generation));
      await this.trees.mark('current', generation);
      await this.ensureServing(generation, isUrgent);
    } catch (error) {
      await this.#rollBack(good);
      await this.trees.discard(generation);
      throw error;
    }
    await this.trees.mark('good', generation);
    this.nginx.keep();
    await this.#cleanUp();
    this.#log.info('nginx serves a new tree', { generation });
    return true;
  }

  async ensureServing(generation: number, isUrgent = false): Promise<void> {
    const runs = (await this.nginx.find()) !== null;
    await this.nginx.start();
    // Not earlier: the supervisor may just have failed to start nginx with another tree.
    const errorLog = await markErrorLog(this.#errorLog);
    let replaced: readonly Process[] = [];
    if (runs) {
      // An nginx found running may serve this tree already.
      const readGeneration = await this.#readGeneration().catch(() => null);
      if (readGeneration !== generation) {
        if (!isUrgent) await this.#beforeReload?.();
        replaced = await servingWorkers(this.nginx.dir);
        this.nginx.reload();
        this.pace.reloaded();
      }
    }
    await probe(this.#readGeneration, generation, errorLog);
    await untilNotServing(replaced);
  }

  /** Stops serving and supervising. */
  async end(): Promise<void> {
    await this.nginx.stop();
    await this.trees.unmark('good');
    await this.trees.unmark('current');
  }

  /** The new tree serves already, so errors are only logged. The next tree cleans up again. */
  async #cleanUp(): Promise<void> {
    await this.trees.prune().catch((error: unknown) => this.#log.warn('old trees were not deleted', { error }));
    await this.pace.endOldest().catch((error: unknown) => this.#log.warn('old workers were not ended', { error }));
  }

  async #rollBack(good: number | null): Promise<void> {
    if (good === null) {
      await this.end();
      return;
    }
    await this.trees.mark('current', good);
    await this.ensureServing(good).catch((error: unknown) => {
      this.#log.error('the rollback failed', { generation: good, error });
    });
  }
}
