// The running agent: serves from disk before it connects, then follows the control plane.
import path from 'node:path';
import { BlockSet } from './blocks/block-set.ts';
import { BotVerifier } from './bots/bot-verifier.ts';
import { createVerifyBot } from './bots/verify-bot.ts';
import { createCommandHandlers, rotate } from './command-handlers.ts';
import { DocumentFollowers } from './document-followers.ts';
import type { Env } from './env.ts';
import { ControlAddresses } from './link/control-addresses.ts';
import { heldKeys } from './link/held-keys.ts';
import { readIdentity } from './link/identity.ts';
import type { Identity } from './link/identity.ts';
import { Link } from './link/nats.ts';
import { linkedNode } from './linked-node.ts';
import type { Log } from './log.ts';
import { applyGeneva, isApplied } from './machine/geneva.ts';
import { HostSettings } from './machine/host-settings.ts';
import { lastRotation } from './machine/log-rotation.ts';
import { ownAddress, ownAddresses, prepareMachine } from './machine/machine.ts';
import type { Machine } from './machine/machine.ts';
import { Meter } from './machine/meter.ts';
import { createRiskFollower } from './machine/risk-set.ts';
import { Membership } from './membership.ts';
import { serveMetrics } from './metrics.ts';
import type { LogFigures } from './metrics.ts';
import type { LogBatch } from '@edgeloom/contract/edge/log-batches.ts';
import type { Status } from './nginx/admin.ts';
import { Watchdog } from './nginx/watchdog.ts';
import type { Refusals } from './reconcile.ts';
import { http3Ports } from './render/http3.ts';
import { startServing } from './serving.ts';
import type { Serving } from './serving.ts';
import { LogShipper } from './logs/log-shipper.ts';
import { CachedNow } from './store/cached-now.ts';
import type { Health } from './upgrade/health.ts';
import { Home } from './upgrade/home.ts';
import { Reports } from './upgrade/reports.ts';
import { runTrial } from './upgrade/trial.ts';
import { Upgrades } from './upgrade/upgrades.ts';

export interface Running {
  /** Rejects when the control plane refuses the node. Retrying cannot help. */
  refused: Promise<never>;
  /** Resolves when another release must start in place of this one. */
  replaced: Promise<void>;
  /** Stops the agent. nginx keeps serving unless `nginx` is true. */
  stop: (options: { nginx: boolean }) => Promise<void>;
}

const HEARTBEAT_METER_MS = 90_000;
const STATUS_TIMEOUT_MS = 1000;

/** Resolves when nginx serves the documents on disk. Joining and connecting continue in the background. */
export async function startAgent(env: Env, log: Log): Promise<Running> {
  const machine = await prepareMachine(env, log);
  const serving = await startServing(machine, log);
  return new Agent({ env, machine, serving, identity: await readIdentity(machine.layout), log }).start();
}

interface Deps {
  env: Env;
  machine: Machine;
  serving: Serving;
  identity: Identity | null;
  log: Log;
}

class Agent {
  readonly #env: Env;
  readonly #machine: Machine;
  readonly #serving: Serving;
  readonly #log: Log;
  readonly #refusals: Refusals = new Map();
  readonly #membership: Membership;
  readonly #controlAddresses: ControlAddresses;
  readonly #followRisk: () => Promise<void>;
  readonly #documents: DocumentFollowers;
  readonly #cachedNow: CachedNow;
  readonly #logShippers: readonly LogShipper[];
  readonly #settings: HostSettings;
  readonly #blocks: BlockSet;
  readonly #bots: BotVerifier;
  readonly #watchdog: Watchdog;
  /** Null where no launcher started this agent. */
  readonly #home: Home | null;
  readonly #reports: Reports;
  readonly #upgrades: Upgrades;
  /** By nginx's last status. Firewalls use the rules of this release meanwhile. */
  #wafPackError: string | null = null;
  #trial: Promise<void> = Promise.resolve();
  #stopMetrics: () => Promise<void> = () => Promise.resolve();
  #replace = (): void => undefined;
  readonly #replaced = new Promise<void>((resolve) => (this.#replace = resolve));

  constructor({ env, machine, serving, identity, log }: Deps) {
    this.#env = env;
    this.#machine = machine;
    this.#serving = serving;
    this.#log = log;
    const { layout, firewall } = machine;
    const { node, store } = serving;
    this.#membership = new Membership(
      { env, layout, node, refresh: this.#refresh, forgetZone: () => this.#forgetZone(), log },
      identity,
    );
    this.#controlAddresses = new ControlAddresses(() => [
      ...(env.EDGELOOM_CONTROL === undefined ? [] : [env.EDGELOOM_CONTROL]),
      ...this.#membership.natsServers,
    ]);
    this.#documents = new DocumentFollowers({
      machine,
      serving,
      refusals: this.#refusals,
      reportOrigins: (report) => this.#membership.link?.reportOrigins(report),
      log,
    });
    this.#logShippers = [
      this.#createLogShipper('requests', layout.logs),
      this.#createLogShipper('sessions', layout.forwards.logs),
    ];
    this.#cachedNow = new CachedNow({
      dir: path.join(layout.cache, 'objects'),
      store,
      report: (report) => this.#membership.link?.reportCached(report),
      log,
    });
    this.#followRisk = createRiskFollower({ dir: layout.dir, read: () => node.structureWith([]), firewall });
    this.#settings = this.#createHostSettings();
    this.#blocks = this.#createBlockSet();
    this.#bots = new BotVerifier({
      file: path.join(layout.dir, 'bots.json'),
      nginx: serving.admin,
      verify: createVerifyBot(machine.host.resolvers),
      log,
    });
    this.#watchdog = new Watchdog({
      nginx: serving.server.nginx,
      admin: serving.admin,
      layout,
      changed: this.#heartbeatNow,
      log,
    });
    this.#home = env.EDGELOOM_HOME === undefined ? null : new Home(env.EDGELOOM_HOME);
    this.#reports = new Reports(path.join(layout.dir, 'upgrade/reports'), log);
    this.#upgrades = this.#createUpgrades();
  }

  async start(): Promise<Running> {
    await this.#serve();
    this.#watchdog.start();
    await this.#upgrades.resume();
    this.#membership.start(this.#linkOpener());
    this.#reports.deliverTo(async (report) => {
      const { link } = this.#membership;
      if (link === null) throw new Error('not joined');
      await link.reportUpgrade(report);
    });
    this.#startTrial();
    await this.#serveMetrics();
    return { replaced: this.#replaced, refused: this.#membership.refused, stop: (options) => this.#stop(options) };
  }

  /** Serves the documents on disk, and follows their changes. */
  async #serve(): Promise<void> {
    const { node, server, forwards, store } = this.#serving;
    node.onChanged = (keys) => {
      this.#blocks.settingChanged();
      this.#documents.changed(keys);
      forwards.changed(keys);
      this.#settings.check();
    };
    node.unresponsive = () => this.#watchdog.error !== null;
    forwards.onSockets = () => this.#settings.check();
    await this.#membership.adoptZone();
    await node.serve();
    forwards.follow({ store, self: () => node.self });
    server.nginx.onRestart = () => void this.#refresh().then(this.#heartbeatNow);
  }

  async #serveMetrics(): Promise<void> {
    const { EDGELOOM_METRICS: address } = this.#env;
    if (address === undefined) return;
    const { node, admin, store } = this.#serving;
    const facts = {
      isConnected: () => this.#membership.link?.isConnected === true,
      isNginxUp: () => node.state === 'running' || node.state === 'rolledBack',
      isDiskFull: () => this.#watchdog.isDiskFull,
      documents: () => ({ stored: store.size, rejected: this.#refusals.size }),
      nginx: () => admin.status(STATUS_TIMEOUT_MS),
      logs: this.#logFigures,
    };
    this.#stopMetrics = await serveMetrics(address, facts, this.#log);
  }

  #startTrial(): void {
    const home = this.#home;
    if (home === null || this.#env.EDGELOOM_TRIAL === undefined) return;
    this.#trial = runTrial({
      home,
      health: () => this.#health(),
      isInSync: () => this.#serving.forwards.hasEvaluated && this.#membership.link?.isInSync === true,
      natsServers: () => this.#membership.link?.servers ?? [],
      confirm: () => this.#upgrades.confirm(home),
      handBack: () => this.#replace(),
      signal: this.#membership.signal,
      log: this.#log,
    });
  }

  async #stop({ nginx: withNginx }: { nginx: boolean }): Promise<void> {
    const { node, server, forwards, cachePlace, store } = this.#serving;
    this.#membership.beginStop();
    await this.#trial.catch((error: unknown) =>
      this.#log.error('the trial of this release could not be finished', { error }),
    );
    await this.#stopMetrics();
    await this.#watchdog.stop();
    await this.#upgrades.stop();
    await this.#reports.stop();
    await this.#membership.settle();
    await this.#settings.stop();
    await this.#documents.stop();
    await this.#cachedNow.stop();
    await Promise.all(this.#logShippers.map((shipper) => shipper.stop()));
    await cachePlace.stop();
    await this.#membership.disconnect();
    // Waits for a running operation, which would otherwise watch or start nginx again.
    await node.inTurn(() => Promise.resolve());
    // Its requests to the control plane ended with the connection.
    await this.#blocks.stop();
    await this.#bots.stop();
    await forwards.stop({ nginx: withNginx });
    if (withNginx) await server.nginx.stop();
    server.nginx.unwatch();
    await store.close();
    this.#machine.unlock();
  }

  readonly #heartbeatNow = (): void => this.#membership.link?.heartbeatNow();

  /** Applies the documents on disk to nginx again. */
  readonly #refresh = (): Promise<void> => {
    const { node } = this.#serving;
    return node
      .inTurn(() => node.refresh())
      .catch((error: unknown) => this.#log.error('nginx does not serve the documents', { error }));
  };

  /** Errors of this machine besides those of the documents. */
  readonly #fault = (): string | null =>
    this.#watchdog.error ?? this.#serving.forwards.error ?? this.#settings.error ?? this.#wafPackError;

  /** A hanging nginx is not asked. Its timeouts would delay the heartbeat that reports it until it is replaced. */
  readonly #status = async (): Promise<Status> => {
    if (this.#watchdog.error !== null) throw new Error(this.#watchdog.error);
    const status = await this.#serving.admin.status(STATUS_TIMEOUT_MS);
    const fault = status.waf?.fault;
    const error = fault === undefined ? null : `nginx cannot read the waf pack: ${fault}`;
    if (error !== this.#wafPackError) {
      this.#wafPackError = error;
      this.#heartbeatNow();
    }
    return status;
  };

  #health(): Health {
    const { node } = this.#serving;
    return { nginx: node.state, error: node.error ?? this.#fault(), rejected: [...this.#refusals.keys()] };
  }

  async #forgetZone(): Promise<void> {
    await this.#machine.firewall
      .forget()
      .catch((error: unknown) => this.#log.error('packet rules could not be removed', { error }));
    this.#refusals.clear();
  }

  #createLogShipper(kind: LogBatch['kind'], logs: string): LogShipper {
    const { node, forwards } = this.#serving;
    return new LogShipper({
      kind,
      logs,
      maxBytes: this.#env.EDGELOOM_LOG_BYTES,
      rotate: () => rotate(node, forwards, this.#machine.layout),
      send: async (batch) => {
        const { link } = this.#membership;
        if (link === null) throw new Error('not joined');
        return link.sendLogs(batch);
      },
      log: this.#log,
    });
  }

  readonly #logFigures = async (): Promise<LogFigures> => {
    const shippers = this.#logShippers;
    const waiting = await Promise.all(shippers.map((shipper) => shipper.waitingBytes()));
    const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);
    return {
      waitingBytes: sum(waiting),
      droppedLines: sum(shippers.map(({ dropped }) => dropped.lines)),
      droppedBytes: sum(shippers.map(({ dropped }) => dropped.bytes)),
      sentBytes: sum(shippers.map(({ sent }) => sent.bytes)),
      sentBatches: sum(shippers.map(({ sent }) => sent.batches)),
    };
  };

  #createHostSettings(): HostSettings {
    const { layout, host, firewall } = this.#machine;
    const { node, forwards } = this.#serving;
    return new HostSettings({
      read: () => node.structureWith([]),
      geneva: { apply: applyGeneva, isApplied },
      firewall: {
        follow: async (lists) => {
          await firewall.follow(lists);
          await this.#followRisk();
        },
      },
      sockets: (zone) => [
        ...zone.ports.map(({ port }) => ({ protocol: 'tcp' as const, port })),
        ...http3Ports(zone, host.capabilities).map((port) => ({ protocol: 'udp' as const, port })),
        ...forwards.sockets,
      ],
      trusted: () => this.#controlAddresses.addresses,
      rotate: () => rotate(node, forwards, layout),
      lastRotation: () => lastRotation(layout),
      drained: () => {
        void this.#refresh();
        forwards.changed('all');
      },
      log: this.#log,
    });
  }

  #createBlockSet(): BlockSet {
    const { layout, firewall } = this.#machine;
    const { node, admin } = this.#serving;
    return new BlockSet({
      file: path.join(layout.dir, 'blocks.json'),
      async setting() {
        const structure = await node.structureWith([]);
        const isOpen = structure !== null && structure.node?.relayPort === undefined;
        return isOpen && structure.zone.ipset ? { zoneID: structure.zone.id, max: structure.zone.ipset.max } : null;
      },
      nginx: admin,
      kernel: firewall,
      alwaysAllowed: () => [...ownAddresses(), ...this.#controlAddresses.addresses],
      line: () => this.#membership.link,
      log: this.#log,
    });
  }

  #createUpgrades(): Upgrades {
    const { node, admin } = this.#serving;
    return new Upgrades({
      home: this.#home,
      dir: this.#machine.layout.dir,
      keysFile: this.#env.EDGELOOM_RELEASE_KEYS,
      control: this.#env.EDGELOOM_CONTROL,
      health: () => this.#health(),
      usePacks: async (product) => {
        await node.inTurn(() => node.refresh());
        const status = node.nginx.running ? await admin.status() : null;
        const fault = product === 'risk' || product === 'waf' ? status?.[product]?.fault : undefined;
        if (fault !== undefined) throw new Error(`nginx cannot read the ${product} pack: ${fault}`);
        await this.#followRisk();
      },
      wafVersion: async () => (node.nginx.running ? ((await admin.status()).waf?.version ?? null) : null),
      changed: this.#heartbeatNow,
      restart: () => this.#replace(),
      reports: this.#reports,
      log: this.#log,
    });
  }

  #linkOpener(): (identity: Identity) => Link {
    const { layout, host, firewall } = this.#machine;
    const { node, forwards } = this.#serving;
    const log = this.#log;
    const place = { dir: layout.dir, status: this.#status, dropped: () => firewall.dropped() };
    const commandHandlers = createCommandHandlers({
      node,
      forwards,
      layout,
      address: ownAddress(host.listen),
      meter: new Meter(place),
      refresh: this.#refresh,
      move: (to) => this.#membership.move(to),
      upgrade: (command) => this.#upgrades.accept(command),
      removePack: (command) => this.#upgrades.remove(command),
      dropped: () => firewall.dropped(),
      logs: this.#logFigures,
      log,
    });
    // Heartbeats are further apart than two polls of a page that shows figures.
    const meter = new Meter(place, HEARTBEAT_METER_MS);
    const nginx = { refresh: () => node.inTurn(() => node.refresh()), isRunning: () => node.nginx.running };
    return (identity) => {
      const linked = linkedNode({
        node,
        identity,
        refusals: this.#refusals,
        zoneKeys: heldKeys(layout, nginx, log),
        commandHandlers,
        meter,
        isDiskFull: () => this.#watchdog.isDiskFull,
        logs: this.#logFigures,
        blocks: this.#blocks,
        capabilities: host.capabilities,
        fault: this.#fault,
        patterns: async () => (await this.#status().catch(() => null))?.patterns,
        has: () => this.#upgrades.has,
        refresh: this.#refresh,
        log,
      });
      return new Link(linked, log);
    };
  }
}
