// Follows documents that the agent itself acts on: health checks of origins, OCSP staples and WebP conversion.
import type { OriginReport } from '@edgeloom/contract/edge/messages.ts';
import { clientPairs } from './health/client-pair.ts';
import { FollowedDocuments } from './health/followed-documents.ts';
import { HealthChecks } from './health/health-checks.ts';
import { Images } from './images/images.ts';
import type { Log } from './log.ts';
import type { Machine } from './machine/machine.ts';
import { StapleFiles, storedChains } from './ocsp/staple-files.ts';
import { Staples } from './ocsp/staples.ts';
import { createResolver } from './origins/addresses.ts';
import { closedBecause } from './plan.ts';
import type { Refusals } from './reconcile.ts';
import type { Serving } from './serving.ts';

interface Deps {
  machine: Machine;
  serving: Serving;
  refusals: Refusals;
  reportOrigins: (report: OriginReport) => void;
  log: Log;
}

export class DocumentFollowers {
  readonly #documents: FollowedDocuments;
  readonly #checks: HealthChecks;
  readonly #staples: Staples;
  readonly #images: Images;

  constructor({ machine, serving, refusals, reportOrigins, log }: Deps) {
    const { layout, host, authorities, lookUp } = machine;
    const { store, node, admin } = serving;
    const outbound = {
      resolve: createResolver(lookUp, () => this.#documents.originPolicy),
      authorities,
      isReady: () => this.#documents.originPolicy !== null,
    };
    this.#checks = new HealthChecks({
      ...outbound,
      pairOf: clientPairs(store, layout),
      setInNginx: (down, up, seconds) => admin.health(down, up, seconds),
      report: reportOrigins,
      log,
    });
    this.#staples = new Staples({
      ...outbound,
      files: new StapleFiles(layout.docs),
      chainOf: storedChains(store),
      notifyNginx: (keys) => node.inTurn(() => node.bump(keys)),
      log,
    });
    this.#images = new Images({ run: layout.run, log });
    this.#documents = new FollowedDocuments({
      store,
      // Documents kept on disk are not sent again after a restart, so this report is the only one.
      closed: (key, hash, lacked) =>
        node.inTurn(async () => {
          const known = store.get(key);
          if (known?.sha256 === hash) refusals.set(key, { key, ...known, error: closedBecause(lacked) });
        }),
      host: (key, doc) => this.#checks.set(key, doc),
      cert: (key, doc) => this.#staples.set(key, doc),
      webp: (key, isWanted) => host.capabilities.webp && this.#images.set(key, isWanted),
      settled: () => this.#staples.sweep(),
      log,
    });
  }

  changed(keys: readonly string[] | 'all'): void {
    this.#documents.changed(keys);
  }

  async stop(): Promise<void> {
    this.#checks.stop();
    this.#staples.stop();
    await this.#images.stop();
  }
}
