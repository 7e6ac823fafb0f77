// What a zone's operator set, in one piece: what a version keeps, and in which words two of them differ. Pure.
import { snippetParts } from '@edgeloom/contract/zone-settings/allowed.ts';
import {
  settingsIn,
  type ZoneSettings,
  type ConfigDraft,
  type SettingChange,
  type ZoneContent,
} from '@edgeloom/contract/zone-settings/zone-settings.ts';
import { RedirectCode } from '@edgeloom/contract/zones/zones.ts';

export interface ZoneRows {
  settings: unknown;
  forceSslRedirectCode: number;
  ports: { id: string; port: number; tls: boolean }[];
}

export const contentOf = ({ settings, forceSslRedirectCode, ports }: ZoneRows): ZoneContent => ({
  ...settingsIn(settings),
  forceSSLRedirectCode: RedirectCode.parse(forceSslRedirectCode),
  ports: ports.map(({ id, port, tls }) => ({ id, port, tls })).sort((a, b) => a.port - b.port),
});

export const settingsOf = (content: ZoneContent): ZoneSettings => settingsIn(content);

/** With what a draft says in place of what is set. */
export function drafted(before: ZoneContent, { nginx, ports, ...draft }: ConfigDraft): ZoneContent {
  const said = Object.fromEntries(Object.entries(draft).filter(([, value]) => value !== undefined));
  const idOf = (port: number) => before.ports.find((one) => one.port === port)?.id ?? NEW;
  return {
    ...before,
    ...said,
    nginx: {
      ...before.nginx,
      ...Object.fromEntries(Object.entries(nginx ?? {}).filter(([, value]) => value !== undefined)),
    },
    ports:
      ports?.map(({ port, tls }) => ({ id: idOf(port), port, tls })).sort((a, b) => a.port - b.port) ?? before.ports,
  };
}
const NEW = '00000000-0000-0000-0000-000000000000';

/** Fields by their path, values as text; of a snippet its lines. */
export function changesBetween(before: ZoneContent, after: ZoneContent): SettingChange[] {
  const [from, to] = [flat(before), flat(after)];
  return [...to.keys()].flatMap((field) => {
    const [a = '', b = ''] = [from.get(field), to.get(field)];
    return a === b ? [] : [{ field, before: a, after: b }];
  });
}

const flat = ({ resource, nginx, ports, ...rest }: ZoneContent): Map<string, string> =>
  new Map<string, string>([
    ['http2', String(rest.http2)],
    ['http3', String(rest.http3)],
    ['forceSSLRedirectCode', String(rest.forceSSLRedirectCode)],
    ['soakSeconds', String(rest.soakSeconds)],
    ['ports', ports.map(({ port, tls }) => `${port}${tls ? ' HTTPS' : ''}`).join(', ')],
    ...Object.entries(resource).map(([name, value]): [string, string] => [`resource.${name}`, String(value)]),
    ['nginx.enable', String(nginx.enable)],
    ...snippetParts.map((part): [string, string] => [`nginx.${part}`, nginx[part]]),
  ]);

export const isSame = (a: ZoneContent, b: ZoneContent) => changesBetween(a, b).length === 0;
