// The differences of two zone configurations in words. Pure, and shared by previews and history.
import { RolloutStrategy } from '../rollouts/rollouts.ts';
import { snippetParts } from './directive-allowlist.ts';
import type { SettingChange, ZoneSettings } from './zone-settings.ts';

export interface Compared extends ZoneSettings {
  forceSSLRedirectCode: number;
  ports: readonly { port: number; tls: boolean }[];
}

/** Fields by path, values as text, snippets by lines. */
export function changesBetween(before: Compared, after: Compared): SettingChange[] {
  const [from, to] = [flat(before), flat(after)];
  return [...to.keys()].flatMap((field) => {
    const [a = '', b = ''] = [from.get(field), to.get(field)];
    return a === b ? [] : [{ field, before: a, after: b }];
  });
}

const flat = ({
  resource,
  nginx,
  firewall,
  antiCC,
  ipset,
  visitorAddress,
  ports,
  ...rest
}: Compared): Map<string, string> =>
  new Map<string, string>([
    ['http2', String(rest.http2)],
    ['http3', String(rest.http3)],
    ['forceSSLRedirectCode', String(rest.forceSSLRedirectCode)],
    ['soakSeconds', String(rest.soakSeconds)],
    ['ports', ports.map(({ port, tls }) => `${port}${tls ? ' HTTPS' : ''}`).join(', ')],
    ...Object.entries(resource).map(([name, value]): [string, string] => [`resource.${name}`, String(value)]),
    ['firewall.level', String(firewall.level)],
    ['firewall.whitelist', firewall.whitelist.join('\n')],
    ['firewall.blacklist', firewall.blacklist.join('\n')],
    ['firewall.synProtection', String(firewall.synProtection)],
    ...Object.entries(ipset).map(([name, value]): [string, string] => [`ipset.${name}`, String(value)]),
    ...Object.entries(visitorAddress).map(([name, value]): [string, string] => [
      `visitorAddress.${name}`,
      textOf(value),
    ]),
    ...Object.entries(antiCC).map(([name, value]): [string, string] => [`antiCC.${name}`, textOf(value)]),
    ['nginx.enable', String(nginx.enable)],
    ...snippetParts.map((part): [string, string] => [`nginx.${part}`, nginx[part]]),
  ]);

/** Puts the texts of a list on separate lines, and its numbers on one line, separated by commas. */
const textOf = (value: string | number | boolean | string[] | number[]) =>
  Array.isArray(value) ? value.join(typeof value[0] === 'number' ? ', ' : '\n') : String(value);

const refusing = ['firewall.', 'ipset.', 'antiCC.'];

/** The rollout strategy of a change. Gates do not check access restrictions, least of all under attack. */
export const strategyOf = (soakSeconds: number, changes: readonly SettingChange[]): RolloutStrategy =>
  RolloutStrategy.parse({
    type: 'waves',
    soakSeconds,
    deadlineSeconds: 60,
    gates: changes.some(({ field }) => refusing.some((part) => field.startsWith(part))) ? { refusals: 1 } : {},
  });

export const isSame = (a: Compared, b: Compared) => changesBetween(a, b).length === 0;
