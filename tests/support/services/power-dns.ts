// PowerDNS with its API and DNS server.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { launch } from '../../../deploy/services/program.ts';
import { eventually } from '../assertions/eventually.ts';
import { nameServerHost } from '../fakes/dns-server.ts';
import { mmdb } from '../builders/mmdb.ts';
import { freePort } from './ports.ts';
import { testDir } from './test-dir.ts';
export { openDns } from '@edgeloom/api/dns/provider.ts';

export interface PowerDns {
  /** Base URL of the API. */
  url: string;
  apiKey: string;
  /** Address of the DNS server, such as `127.1.2.3:53`. */
  nameServer: string;
  /** Calls the PowerDNS API. */
  call: (path: string, method?: string, body?: object) => Promise<unknown>;
  /** Delegates a zone to another name server. */
  delegate: (zone: string, name: string, host: string) => Promise<void>;
  stop: () => Promise<void>;
}

const schema = '/usr/share/doc/pdns-backend-sqlite3/schema.sqlite3.sql';

/** A network with its country and ASN. */
export interface GeoNetwork {
  network: string;
  country: string;
  continent: string;
  asn: number;
}

/** `places` enables records per region. */
export async function startPowerDns(zones: string[], places: GeoNetwork[] = []): Promise<PowerDns> {
  const dir = await testDir();
  const api = await freePort();
  const host = nameServerHost();
  const file = path.join(dir, 'pdns.sqlite');
  const database = new DatabaseSync(file);
  database.exec(await readFile(schema, 'utf8'));
  database.close();
  const apiKey = 'a key of some length 0123';
  const settings = {
    'config-dir': dir,
    'socket-dir': dir,
    ...(places.length === 0 ? { launch: 'gsqlite3' } : await geoIpSettings(dir, places)),
    'gsqlite3-database': file,
    'local-address': host,
    'local-port': '53',
    api: 'yes',
    'api-key': apiKey,
    webserver: 'yes',
    'webserver-address': '127.0.0.1',
    'webserver-port': String(api),
    'webserver-allow-from': '127.0.0.1',
    'cache-ttl': '0',
    'query-cache-ttl': '0',
    'negquery-cache-ttl': '0',
    'zone-cache-refresh-interval': '0',
    'disable-syslog': 'yes',
  };
  const running = await launch(
    {
      name: 'pdns_server',
      command: '/usr/sbin/pdns_server',
      args: ['--guardian=no', '--daemon=no', ...Object.entries(settings).map(([name, value]) => `--${name}=${value}`)],
      stopSignal: 'SIGTERM',
      stopWithinMs: 3000,
    },
    { runDir: path.join(dir, 'run'), logDir: dir },
  );
  const url = `http://127.0.0.1:${api}`;
  const call = async (target: string, method = 'GET', body?: object): Promise<unknown> => {
    const answer = await fetch(`${url}/api/v1/servers/localhost${target}`, {
      method,
      headers: { 'x-api-key': apiKey },
      body: body ? JSON.stringify(body) : null,
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${answer.status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  };
  const servers = new Map(zones.map((zone) => [zone, new Map([[`ns1.${zone}`, host]])]));
  const setsOf = (zone: string) => {
    const known = [...(servers.get(zone) ?? [])];
    const set = (name: string, type: string, contents: string[]) => ({
      name: `${name}.`,
      type,
      ttl: 60,
      changetype: 'REPLACE',
      records: contents.map((content) => ({ content, disabled: false })),
    });
    return [
      set(
        zone,
        'NS',
        known.map(([name]) => `${name}.`),
      ),
      ...known.map(([name, address]) => set(name, 'A', [address])),
    ];
  };
  await eventually(() => call(''), { within: 20_000 });
  for (const zone of zones) await call('/zones', 'POST', { name: `${zone}.`, kind: 'Native', rrsets: setsOf(zone) });
  return {
    url,
    apiKey,
    nameServer: `${host}:53`,
    call,
    async delegate(zone, name, address) {
      servers.get(zone)?.set(name, address);
      await call(`/zones/${zone}.`, 'PATCH', { rrsets: setsOf(zone) });
    },
    stop: () => running.stop(),
  };
}

async function geoIpSettings(dir: string, places: GeoNetwork[]) {
  const [where, whose] = [path.join(dir, 'country.mmdb'), path.join(dir, 'asn.mmdb')];
  const lying = places.map(
    ({ network, country, continent }) =>
      [network, { country: { iso_code: country }, continent: { code: continent } }] as const,
  );
  const owned = places.map(({ network, asn }) => [network, { autonomous_system_number: asn }] as const);
  await writeFile(where, mmdb('Country', lying));
  await writeFile(whose, mmdb('ASN', owned));
  return {
    launch: 'gsqlite3,geoip',
    'geoip-database-files': `mmdb:${where} mmdb:${whose}`,
    'enable-lua-records': 'yes',
    'edns-subnet-processing': 'yes',
  };
}
