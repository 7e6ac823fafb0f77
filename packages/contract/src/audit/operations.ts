// Finds the endpoint of a logged call by its method and address, and the kind of object that it is about. Kinds are
// tables.
import { mounted, onlyReads, paramNames, type Endpoint, type Group } from '../endpoint.ts';

/** The kind of a feature whose table has another name. */
const kindsOfFeatures: Readonly<Record<string, string>> = {
  announcementSetting: 'announcements',
  blacklists: 'firewallLists',
  layer4Blacklists: 'layer4Lists',
  layer4Whitelists: 'layer4Lists',
  blockIPs: 'blocks',
  branding: 'brandings',
  clientSites: 'sites',
  ipset: 'blocks',
  domainUpstreams: 'upstreams',
  firewall: 'abuseIps',
  geos: 'firewallGeos',
  userAgents: 'userAgentRules',
  antiCCs: 'siteAntiCcs',
  whitelists: 'firewallLists',
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
  acls: 'modules',
  aclRules: 'modules',
  luaAcls: 'modules',
  wafs: 'modules',
  domainModules: 'domains',
  clientZones: 'zones',
  zoneKeys: 'zones',
  zoneListSources: 'listSources',
};
/** The kind of a call that differs from its feature's. */
const kindsOfCalls: Readonly<Record<string, string>> = {
  'firewall.updateAdvance': 'firewallAdvances',
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
  kindsOfCalls[operationName(endpoint)] ?? kindsOfFeatures[endpoint.feature] ?? endpoint.feature;

const kindsOfParams: Readonly<Record<string, string>> = {
  siteId: 'sites',
  domainId: 'domains',
  zoneId: 'zones',
  nodeID: 'nodes',
  groupId: 'groups',
  vnodeId: 'virtualNodes',
  portId: 'portRules',
  certId: 'certificates',
  destinationID: 'logDestinations',
  moduleId: 'modules',
  clientId: 'clients',
};
/** Null for a parameter that is not the id of a named object. */
export const kindOfParam = (endpoint: Endpoint, name: string) =>
  name === 'id' ? kindOf(endpoint) : (kindsOfParams[name] ?? null);

/** Automatic calls, and steps before an action. The list of actions has them only when they failed. */
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

/** Rows of the oldest releases have only method and address of a call. */
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
    /** Matches "method address" of a step. */
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
