// Operators' zone settings as one value: the content of a version, and the comparison of two versions. Pure.
import {
  settingsIn,
  type ZoneSettings,
  type ConfigDraft,
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

/** The settings with a draft applied. */
export function drafted(before: ZoneContent, { nginx, ports, ...draft }: ConfigDraft): ZoneContent {
  const changed = Object.fromEntries(Object.entries(draft).filter(([, value]) => value !== undefined));
  const idOf = (port: number) => before.ports.find((one) => one.port === port)?.id ?? NEW;
  return {
    ...before,
    ...changed,
    nginx: {
      ...before.nginx,
      ...Object.fromEntries(Object.entries(nginx ?? {}).filter(([, value]) => value !== undefined)),
    },
    ports:
      ports?.map(({ port, tls }) => ({ id: idOf(port), port, tls })).sort((a, b) => a.port - b.port) ?? before.ports,
  };
}
const NEW = '00000000-0000-0000-0000-000000000000';
