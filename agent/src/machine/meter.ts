// The load of this machine. Kernel counters start at boot, so a value is the difference of two samples: the last one,
// or a fresh one when the last is too old.
import { readFile, statfs } from 'node:fs/promises';
import { release } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { Dropped, NodeFigures, NodeLoad } from '@edgeloom/contract/edge/messages.ts';
import type { Status } from '../nginx/admin.ts';
import type { Cause } from './firewall/driver.ts';
import type { Dropped as Counted } from './firewall/firewall.ts';

interface Sample {
  at: number;
  busy: number;
  total: number;
  cores: number;
  interfaces: Map<string, { received: number; sent: number }>;
  dropped: Counted | null;
}

/** /proc, or another root in tests. */
interface Place {
  dir: string;
  proc?: string;
  status: () => Promise<Status>;
  /** Packets dropped by the kernel. Null: the kernel drops nothing for us. */
  dropped: () => Promise<Counted | null>;
}

/** Samples closer together than this are noise. */
const MIN_INTERVAL_MS = 200;
/** Pages that show metrics poll every two seconds. */
const STALE_MS = 15_000;
const MAX_INTERFACES = 64;

export class Meter {
  readonly #place: Place;
  readonly #staleMs: number;
  #last: Sample | null = null;

  constructor(place: Place, staleMs = STALE_MS) {
    this.#place = place;
    this.#staleMs = staleMs;
  }

  async load(): Promise<NodeLoad> {
    const { cpu, memoryUsed, memoryTotal, diskUsed, diskTotal, received, sent, connections, dropped } =
      await this.figures();
    return { cpu, memoryUsed, memoryTotal, diskUsed, diskTotal, received, sent, connections, dropped };
  }

  async figures(): Promise<NodeFigures> {
    const status = await this.#place.status().catch(() => null);
    const before = await this.#before();
    const now = await this.#sample();
    this.#last = now;
    const seconds = Math.max(now.at - before.at, 1) / 1000;
    const interfaces = Array.from(now.interfaces, ([name, counted]) => {
      const then = before.interfaces.get(name) ?? counted;
      const bits = (way: 'received' | 'sent') => (Math.max(0, counted[way] - then[way]) * 8) / seconds;
      return { name, received: bits('received'), sent: bits('sent') };
    });
    const [memory, sockets, disk, uptime, averages, distribution] = await Promise.all([
      this.#table('meminfo'),
      this.#text('net/sockstat'),
      statfs(this.#place.dir),
      this.#text('uptime'),
      this.#text('loadavg'),
      readFile('/etc/os-release', 'utf8').catch(() => ''),
    ]);
    const of = (name: string) => (memory.get(name) ?? 0) * 1024;
    const counts = status?.connections;
    const tcp = (name: string) => Number(new RegExp(`TCP:.* ${name} (\\d+)`).exec(sockets)?.[1] ?? 0);
    return {
      at: new Date(now.at).toISOString(),
      cpu: share(now.busy - before.busy, now.total - before.total),
      cores: now.cores,
      memoryUsed: Math.max(0, of('MemTotal') - of('MemAvailable')),
      memoryTotal: of('MemTotal'),
      diskUsed: (disk.blocks - disk.bfree) * disk.bsize,
      diskTotal: disk.blocks * disk.bsize,
      received: sum(interfaces, 'received'),
      sent: sum(interfaces, 'sent'),
      connections: counts?.active ?? 0,
      dropped: droppedBetween(before.dropped, now.dropped, seconds),
      loadAverages: averages.split(' ').slice(0, 3).map(Number),
      uptimeSeconds: Number(uptime.split(' ')[0] ?? 0),
      system: `${/^PRETTY_NAME="?([^"\n]*)/m.exec(distribution)?.[1] ?? 'Linux'}, ${release()}`.slice(0, 256),
      reading: counts?.reading ?? 0,
      writing: counts?.writing ?? 0,
      waiting: counts?.waiting ?? 0,
      established: tcp('inuse'),
      timeWait: tcp('tw'),
      interfaces: interfaces.slice(0, MAX_INTERFACES),
    };
  }

  async #before(): Promise<Sample> {
    const last = this.#last;
    const age = last === null ? Infinity : Date.now() - last.at;
    if (last !== null && age >= MIN_INTERVAL_MS && age < this.#staleMs) return last;
    const sample = await this.#sample();
    await pause(MIN_INTERVAL_MS);
    return sample;
  }

  async #sample(): Promise<Sample> {
    const [stat, devices, dropped] = await Promise.all([
      this.#text('stat'),
      this.#text('net/dev'),
      this.#place.dropped().catch(() => null),
    ]);
    const times = /^cpu +(.*)$/m.exec(stat)?.[1]?.split(' ').map(Number) ?? [];
    const [user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, soft = 0, stolen = 0] = times;
    const busy = user + nice + system + interrupts + soft + stolen;
    const interfaces = [...devices.matchAll(/^ *([^\s:]+): *(.*)$/gm)].flatMap(([, name = '', counts = '']) => {
      const fields = counts.split(/ +/).map(Number);
      return name === 'lo' ? [] : [[name, { received: fields[0] ?? 0, sent: fields[8] ?? 0 }] as const];
    });
    return {
      at: Date.now(),
      busy,
      total: busy + idle + waiting,
      cores: [...stat.matchAll(/^cpu\d+/gm)].length,
      interfaces: new Map(interfaces),
      dropped,
    };
  }

  /** `MemTotal:  24 kB` */
  async #table(name: string): Promise<Map<string, number>> {
    const rows = (await this.#text(name)).matchAll(/^(\w+): +(\d+)/gm);
    return new Map(Array.from(rows, ([, key = '', value]) => [key, Number(value)]));
  }

  #text(name: string): Promise<string> {
    return readFile(`${this.#place.proc ?? '/proc'}/${name}`, 'utf8');
  }
}

function droppedBetween(before: Counted | null, now: Counted | null, seconds: number): Dropped | null {
  if (now === null) return null;
  const tally = (cause: Cause) => ({
    ...now[cause],
    perSecond: Math.max(0, now[cause].packets - (before ?? now)[cause].packets) / seconds,
  });
  const [blocked, blacklist, risk, syn] = [tally('blocked'), tally('blacklist'), tally('risk'), tally('syn')];
  return { since: now.since, blocked, blacklist, risk, syn };
}

const share = (part: number, whole: number) => (whole <= 0 ? 0 : Math.min(1, Math.max(0, part / whole)));
const sum = (rows: { received: number; sent: number }[], way: 'received' | 'sent') =>
  rows.reduce((all, row) => all + row[way], 0);
