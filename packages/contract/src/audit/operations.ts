// The calls of the operation log: which one an address was, and what kind of thing it is about. Kinds are tables.
import { mounted, onlyReads, paramNames, type Endpoint, type Group } from '../endpoint.ts';

/** Where a feature's rows are in a table of another name. */
const kinds: Readonly<Record<string, string>> = {
  announcementSetting: 'announcements',
  branding: 'brandings',
  clientSites: 'sites',
  ipset: 'blocks',
  domainUpstreams: 'upstreams',
  dnsSetting: 'dnsSettings',
  ports: 'portRules',
  proxy: 'accounts',
  purge: 'purges',
  autoCertificates: 'certificates',
  nodeJobs: 'nodes',
  siteAntiHeaders: 'antiHeaders',
  siteUsers: 'accounts',
  upgrades: 'nodes',
  purgeSites: 'sites',
  copies: 'modules',
  customHeaders: 'modules',
  cors: 'modules',
  urlRedirects: 'modules',
  proxyRewrites: 'modules',
  tokenAuths: 'modules',
  domainModules: 'domains',
  clientZones: 'zones',
  zoneKeys: 'zones',
};
/** Calls that are about another kind of thing than the others of their feature. */
const kindsOfCalls: Readonly<Record<string, string>> = {
  'nodes.addSubs': 'subNodes',
  'nodes.removeSubs': 'subNodes',
  'groups.addNodes': 'nodes',
  'groups.removeNodes': 'nodes',
  'groups.addVirtualNodes': 'virtualNodes',
  'groups.removeVirtualNodes': 'virtualNodes',
  'certificates.assign': 'domains',
  'certificates.autoSSL': 'domains',
};
export const operationName = ({ feature, name }: Pick<Endpoint, 'feature' | 'name'>) => `${feature}.${name}`;
export const kindOf = (endpoint: Pick<Endpoint, 'feature' | 'name'>) =>
  kindsOfCalls[operationName(endpoint)] ?? kinds[endpoint.feature] ?? endpoint.feature;

const kindsOfParams: Readonly<Record<string, string>> = {
  siteId: 'sites',
  domainId: 'domains',
  zoneId: 'zones',
  nodeID: 'nodes',
  groupId: 'groups',
  vnodeId: 'virtualNodes',
  portId: 'portRules',
  certId: 'certificates',
  moduleId: 'modules',
  clientId: 'clients',
};
/** Null for a parameter that is no id of a named thing. */
export const kindOfParam = (endpoint: Endpoint, name: string) =>
  name === 'id' ? kindOf(endpoint) : (kindsOfParams[name] ?? null);

/** Automatic calls and steps of an action: the log lists them when they fail. */
const steps: ReadonlySet<string> = new Set([
  'auth.refresh',
  'auth.login',
  'auth.verify',
  'mailedTokens.check',
  'login2fa.phase0',
  'login2fa.phase1',
  'passkeys.options',
  'passkeys.loginOptions',
  'oidc.start',
  'proxy.switchUser',
  'nodeJobs.hostKey',
  'domains.probe',
  'dnsSetting.compare',
  'versions.preview',
]);

export interface Operation {
  endpoint: Endpoint;
  params: Readonly<Record<string, string>>;
}

const API = '/api/v1/';
const patternOf = (path: string) => path.replace(/:\w+/g, '([^/]+)');

/** Finds calls by their addresses, which is all that the audit's oldest rows know of them. */
export function operationsOf(groups: readonly Group[]) {
  const audited = mounted(groups).filter(({ endpoint }) => !onlyReads(endpoint));
  const patterns = audited.map(({ endpoint, method, path }) => ({
    endpoint,
    method,
    pattern: new RegExp(`^${API}${patternOf(path)}$`),
  }));
  const unlisted = audited
    .filter(({ endpoint }) => steps.has(operationName(endpoint)))
    .map(({ method, path }) => `${method} ${API}${patternOf(path)}`);
  return {
    audited: [...new Set(audited.map(({ endpoint }) => endpoint))],
    /** Of "method address": a step of an action. */
    stepPattern: `^(?:${unlisted.join('|')})$`,
    find(method: string, address: string): Operation | null {
      for (const { endpoint, method: own, pattern } of patterns) {
        const found = own === method ? pattern.exec(address) : null;
        if (!found) continue;
        const entries = paramNames(endpoint.path).map((name, i) => [name, decoded(found[i + 1] ?? '')] as const);
        return { endpoint, params: Object.fromEntries(entries) };
      }
      return null;
    },
  };
}

function decoded(text: string) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
