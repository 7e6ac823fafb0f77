// The running agent: serves from disk before it connects, then follows the control plane.
import { readFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { BlockSet } from './blocks/block-set.ts';
import { EdgeNode } from './edge-node.ts';
import type { Env } from './env.ts';
import { Forwards } from './forwards/forwards.ts';
import { clientPairs } from './health/client-pair.ts';
import { FollowedDocuments } from './health/followed-documents.ts';
import { HealthChecks } from './health/health-checks.ts';
import { createCommandHandlers, rotate } from './command-handlers.ts';
import { findNginx, findWorkers, readHost } from './host.ts';
import { Images } from './images/images.ts';
import { openLayout, prepareLayout } from './layout.ts';
import type { Layout } from './layout.ts';
import { ControlAddresses } from './link/control-addresses.ts';
import { heldKeys } from './link/held-keys.ts';
import { readIdentity } from './link/identity.ts';
import type { Identity } from './link/identity.ts';
import { join, JoinRefusedError } from './link/join.ts';
import { Link } from './link/nats.ts';
import { linkedNode } from './linked-node.ts';
import { lockDirectory } from './lock.ts';
import type { Log } from './log.ts';
import { driversFor, Firewall } from './machine/firewall/firewall.ts';
import { applyGeneva, isApplied } from './machine/geneva.ts';
import { lastRotation } from './machine/log-rotation.ts';
import { Meter } from './machine/meter.ts';
import { HostSettings } from './machine/host-settings.ts';
import { createRiskFollower } from './machine/risk-set.ts';
import { Admin } from './nginx/admin.ts';
import { selfSigned } from './nginx/self-signed.ts';
import { TreeServer } from './nginx/tree-server.ts';
import { Watchdog } from './nginx/watchdog.ts';
import { createLookUp, createResolver } from './origins/addresses.ts';
import { StapleFiles, storedChains } from './ocsp/staple-files.ts';
import { Staples } from './ocsp/staples.ts';
import { CachePlace } from './store/cache-place.ts';
import { writeWhole } from './store/durable.ts';
import { CachedNow } from './store/cached-now.ts';
import { closedBecause } from './plan.ts';
import type { Refusals } from './reconcile.ts';
import { http3Ports } from './render/http3.ts';
import { DocumentStore } from './store/documents.ts';
import type { Health } from './upgrade/health.ts';
import { Home } from './upgrade/home.ts';
import { Reports } from './upgrade/reports.ts';
import { runTrial } from './upgrade/trial.ts';
import { Upgrades } from './upgrade/upgrades.ts';
import { version } from './version.ts';

export interface Running {
  /** Rejects when the control plane refuses the node. Retrying cannot help. */
  refused: Promise<never>;
  /** Resolves when another release must start in place of this one. */
  replaced: Promise<void>;
  /** Stops the agent. nginx keeps serving unless `nginx` is true. */
  stop: (options: { nginx: boolean }) => Promise<void>;
}

const JOIN_AGAIN_MS = 5000;
/** Before a reload, connections close after their next response within this time. */
const CLOSING_MS = 1000;
/** Longest time from the announcement until old workers have exited or the reload has failed. */
const CLOSING_SECONDS = 10;
const MOVED_AFTER_MS = 200;
const HEARTBEAT_METER_MS = 90_000;

export async function startAgent(env: Env, log: Log): Promise<Running> {
  const layout = await openLayout(env.EDGELOOM_DIR);
  // Files we create are readable by us and the workers' group, whatever umask we inherited.
  process.umask(0o027);
  const unlock = await lockDirectory(layout.dir);
  const workers = await findWorkers();
  await prepareLayout(layout, workers);
  await ensureFallback(layout);
  const binary = await findNginx(env.EDGELOOM_NGINX);
  const firewall = await Firewall.open(log, driversFor(env));
  const host = { ...(await readHost(env, binary, layout, workers)), refuses: !firewall.canDrop };
  const admin = new Admin(layout.adminSocket);
  const server = new TreeServer({
    binary,
    layout,
    answering: () => admin.generation(),
    beforeReload: () => endConnections(admin),
    log,
  });
  const lookUp = createLookUp(host.resolvers);
  const forwards = new Forwards({ binary, layout: layout.forwards, host, lookUp, log });
  const cachePlace = new CachePlace({ layout, workers, log });
  await cachePlace.ensure();
  // nginx serves before the documents are even listed.
  await Promise.all([server.serveLast(), forwards.serveLast()]);
  const store = await DocumentStore.open(layout.docs);
  const known = await readIdentity(layout);
  const node = new EdgeNode({ server, cachePlace, admin, store, host, log });
  const refusals: Refusals = new Map();
  let link: Link | null = null;
  const outward = {
    resolve: createResolver(lookUp, () => followed.originPolicy),
    authorities: host.caBundle === null ? null : await readFile(host.caBundle, 'utf8').catch(() => null),
    isReady: () => followed.originPolicy !== null,
  };
  const checks = new HealthChecks({
    ...outward,
    pairOf: clientPairs(store, layout),
    tell: (down, up, seconds) => node.admin.health(down, up, seconds),
    report: (report) => link?.reportOrigins(report),
    log,
  });
  const staples = new Staples({
    ...outward,
    files: new StapleFiles(layout.docs),
    chainOf: storedChains(store),
    tell: (keys) => node.inTurn(() => node.bump(keys)),
    log,
  });
  const cachedNow = new CachedNow({
    dir: path.join(layout.cache, 'objects'),
    store,
    report: (report) => link?.reportCached(report),
    log,
  });
  const images = new Images({ run: layout.run, log });
  const followed = new FollowedDocuments({
    store,
    // Documents kept on disk are not sent again after a restart, so this report is the only one.
    closed: (key, hash, lacked) =>
      node.inTurn(async () => {
        const known = store.get(key);
        if (known?.sha256 === hash) refusals.set(key, { key, ...known, error: closedBecause(lacked) });
      }),
    host: (key, doc) => checks.set(key, doc),
    cert: (key, doc) => staples.set(key, doc),
    webp: (key, isWanted) => host.capabilities.webp && images.set(key, isWanted),
    settled: () => staples.sweep(),
    log,
  });
  const refresh = () =>
    node
      .inTurn(() => node.refresh())
      .catch((error: unknown) => log.error('nginx does not serve what the documents say', { error }));
  const control = new ControlAddresses(() => [
    ...(env.EDGELOOM_CONTROL === undefined ? [] : [env.EDGELOOM_CONTROL]),
    ...(link?.servers ?? known?.natsServers ?? []),
  ]);
  const followRisk = createRiskFollower({ dir: layout.dir, read: () => node.structureWith([]), firewall });
  const settings = new HostSettings({
    read: () => node.structureWith([]),
    geneva: { apply: applyGeneva, stands: isApplied },
    firewall: {
      async follow(lists) {
        await firewall.follow(lists);
        await followRisk();
      },
    },
    sockets: (zone) => [
      ...zone.ports.map(({ port }) => ({ protocol: 'tcp' as const, port })),
      ...http3Ports(zone, host.capabilities).map((port) => ({ protocol: 'udp' as const, port })),
      ...forwards.sockets,
    ],
    trusted: () => control.addresses,
    rotate: () => rotate(node, forwards, layout),
    lastRotation: () => lastRotation(layout),
    drained: () => {
      void refresh();
      forwards.changed('all');
    },
    log,
  });
  const blocks = new BlockSet({
    file: path.join(layout.dir, 'blocks.json'),
    async setting() {
      const structure = await node.structureWith([]);
      const isOpen = structure !== null && structure.node?.relayPort === undefined;
      return isOpen && structure.zone.ipset ? { zoneID: structure.zone.id, max: structure.zone.ipset.max } : null;
    },
    nginx: admin,
    kernel: firewall,
    spared: () => [...ownAddresses(), ...control.addresses],
    line: () => link,
    log,
  });
  node.onChanged = (keys) => {
    blocks.settingChanged();
    followed.changed(keys);
    forwards.changed(keys);
    settings.look();
  };
  forwards.onSockets = () => settings.look();
  if (known !== null) await adoptZone(node, known);
  await node.serve();
  forwards.follow({ store, self: () => node.self });
  server.nginx.onRestart = () => void refresh().then(() => link?.heartbeatNow());
  const place = { dir: layout.dir, status: () => admin.status(1000), dropped: () => firewall.dropped() };
  const watchdog = new Watchdog({
    nginx: server.nginx,
    admin,
    layout,
    changed: () => link?.heartbeatNow(),
    log,
  });
  node.unresponsive = () => watchdog.error !== null;
  const fault = () => watchdog.error ?? forwards.error ?? settings.error;
  const health = (): Health => ({ nginx: node.state, error: node.error ?? fault(), rejected: [...refusals.keys()] });
  const home = env.EDGELOOM_HOME === undefined ? null : new Home(env.EDGELOOM_HOME);
  const reports = new Reports(path.join(layout.dir, 'upgrade/reports'), log);
  let replace = (): void => undefined;
  const replaced = new Promise<void>((resolve) => (replace = resolve));
  const upgrades = new Upgrades({
    home,
    dir: layout.dir,
    keysFile: env.EDGELOOM_RELEASE_KEYS,
    control: env.EDGELOOM_CONTROL,
    health,
    async usePacks() {
      await node.inTurn(() => node.refresh());
      const fault = node.nginx.running ? (await admin.status()).risk?.fault : undefined;
      if (fault !== undefined) throw new Error(`nginx cannot read the risk pack: ${fault}`);
      await followRisk();
    },
    changed: () => link?.heartbeatNow(),
    restart: () => replace(),
    reports,
    log,
  });
  await upgrades.resume();
  const commandHandlers = createCommandHandlers({
    node,
    forwards,
    layout,
    address: ownAddress(host.listen),
    meter: new Meter(place),
    refresh,
    move: (to) => move(to),
    upgrade: (command) => upgrades.accept(command),
    removePack: (command) => upgrades.remove(command),
    dropped: () => firewall.dropped(),
    log,
  });
  // Heartbeats are further apart than two polls of a page that shows figures.
  const meter = new Meter(place, HEARTBEAT_METER_MS);
  const connect = (identity: Identity) =>
    new Link(
      linkedNode({
        node,
        identity,
        refusals,
        zoneKeys: heldKeys(
          layout,
          { refresh: () => node.inTurn(() => node.refresh()), isRunning: () => node.nginx.running },
          log,
        ),
        hands: commandHandlers,
        meter,
        isDiskFull: () => watchdog.isDiskFull,
        blocks,
        capabilities: host.capabilities,
        fault,
        patterns: async () => (await admin.status(1000).catch(() => null))?.patterns,
        has: () => upgrades.has,
        refresh,
        log,
      }),
      log,
    );

  const stopping = new AbortController();
  const linking = (async () => {
    const identity = known ?? (await joinForEver(env, layout, log, stopping.signal));
    if (identity === null) return;
    if (known === null) {
      await adoptZone(node, identity);
      await refresh();
    }
    link = connect(identity);
  })();

  reports.deliverTo(async (report) => {
    if (link === null) throw new Error('not joined');
    await link.reportUpgrade(report);
  });
  const trial =
    home !== null && env.EDGELOOM_TRIAL !== undefined
      ? runTrial({
          home,
          health,
          isInStep: () => forwards.hasLooked && link !== null && link.isInStep,
          natsServers: () => link?.servers ?? [],
          confirm: () => upgrades.confirm(home),
          leave: () => replace(),
          signal: stopping.signal,
          log,
        })
      : Promise.resolve();

  /** Joins again as a node of another zone and discards everything of the previous zone. */
  const move = async ({ control, token }: { control: string; token: string }) => {
    const invitation = { control: env.EDGELOOM_CONTROL ?? control, token, version };
    const identity = await join(layout, invitation, stopping.signal);
    log.info('moved', { nodeID: identity.nodeID, zoneID: identity.zoneID });
    // The response has been sent by then.
    moving = rejoinAs(identity).catch((error: unknown) => log.error('the move was not finished', { error }));
  };
  const rejoinAs = async (identity: Identity) => {
    // The response has been sent by then.
    await setTimeout(MOVED_AFTER_MS);
    await link?.stop();
    await node.inTurn(async () => {
      await adoptZone(node, identity);
      await firewall.forget().catch((error: unknown) => log.error('rules for packets were left behind', { error }));
      refusals.clear();
    });
    await refresh();
    if (!stopping.signal.aborted) link = connect(identity);
  };
  let moving = Promise.resolve();

  return {
    replaced,
    refused: linking.then(() => new Promise<never>(() => undefined)),
    stop: async ({ nginx: withNginx }) => {
      stopping.abort();
      await trial.catch((error: unknown) => log.error('the trial of this release was not ended', { error }));
      await watchdog.stop();
      await upgrades.stop();
      await reports.stop();
      await linking.catch(() => undefined);
      await moving;
      await settings.stop();
      checks.stop();
      staples.stop();
      await images.stop();
      await cachedNow.stop();
      await cachePlace.stop();
      await link?.stop();
      // Waits for a running operation, which would otherwise watch or start nginx again.
      await node.inTurn(() => Promise.resolve());
      // Its requests to the control plane ended with the connection.
      await blocks.stop();
      await forwards.stop({ nginx: withNginx });
      if (withNginx) await server.nginx.stop();
      server.nginx.unwatch();
      await store.close();
      unlock();
    },
  };
}

/** Addresses of this machine. Loopback is left out: the firewall accepts it anyway. */
const ownAddresses = () =>
  Object.values(networkInterfaces()).flatMap((list = []) =>
    list.filter(({ internal }) => !internal).map(({ address }) => address),
  );

/** The first address is the one nearest to the control plane. */
function ownAddress([first = '0.0.0.0']: readonly string[]): string {
  if (first === '0.0.0.0') return '127.0.0.1';
  return first === '[::]' ? '::1' : first.replace(/^\[|\]$/g, '');
}

/** Documents of one zone must not be served in another. */
async function adoptZone(node: EdgeNode, { nodeID, zoneID }: Identity): Promise<void> {
  node.self = { nodeID, zoneID };
  const structure = await node.structureWith([]).catch(() => null);
  if (structure === null || structure.zone.id === zoneID) return;
  const keys = [...node.store.keys()];
  await node.store.commit(
    keys.map((key) => ({ key, revision: 0, sha256: '', body: null })),
    0,
  );
  await node.bump('all');
}

async function joinForEver(env: Env, layout: Layout, log: Log, signal: AbortSignal): Promise<Identity | null> {
  const { EDGELOOM_CONTROL: control, EDGELOOM_TOKEN: token } = env;
  if (control === undefined || token === undefined) {
    throw new Error('this node has not joined: EDGELOOM_CONTROL and EDGELOOM_TOKEN are needed');
  }
  while (!signal.aborted) {
    try {
      const identity = await join(layout, { control, token, version }, signal);
      log.info('joined', { nodeID: identity.nodeID, zoneID: identity.zoneID });
      return identity;
    } catch (error) {
      if (error instanceof JoinRefusedError)
        throw new Error(`the control plane refused this node: ${error.message}`, { cause: error });
      log.warn('could not join yet', { error });
      await setTimeout(JOIN_AGAIN_MS * (0.5 + Math.random()), undefined, { signal }).catch(() => undefined);
    }
  }
  return null;
}

/** Lua of an older release does not know this call, so its nginx reloads without it. */
async function endConnections(admin: Admin): Promise<void> {
  const isClosing = await admin.closeConnections(CLOSING_SECONDS, CLOSING_MS).then(
    () => true,
    () => false,
  );
  if (isClosing) await setTimeout(CLOSING_MS);
}

async function ensureFallback({ keys }: Layout): Promise<void> {
  const cert = path.join(keys, 'fallback.pem');
  const key = path.join(keys, 'fallback.key');
  if ((await readFile(cert).catch(() => null)) !== null) return;
  const pair = selfSigned('edge.invalid');
  // The certificate is written last: its presence means that the key exists.
  await writeWhole(key, pair.key, 0o600);
  await writeWhole(cert, pair.cert, 0o600);
}
