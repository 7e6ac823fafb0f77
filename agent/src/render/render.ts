// Renders a zone's structure into the files of one nginx tree. Pure: same input, same bytes.
import { adminConf } from './admin-conf.ts';
import { hopConf } from './hop-conf.ts';
import { listenersConf } from './listeners-conf.ts';
import { logConf } from './log-conf.ts';
import { nginxConf } from './nginx-conf.ts';
import { snippetFiles, snippetsOf } from './snippets.ts';
import { simulateConf } from './simulate-conf.ts';
import type { TreeInput } from './input.ts';

/** Relative path → content. */
export function renderTree({ host, ...rest }: TreeInput): Map<string, string> {
  const { capabilities } = host;
  if (!capabilities.lua) throw new Error('this nginx has no Lua module');
  const webp = capabilities.webp && rest.zone.off?.includes('image') !== true;
  const input = {
    ...rest,
    host: { ...host, capabilities: { ...capabilities, webp } },
    snippets: snippetsOf(rest.zone),
  };
  return new Map([
    ...snippetFiles(input.snippets, ['main', 'events', 'shared', 'visitors', 'origins']),
    ['admin.conf', adminConf(input).text],
    ['hop.conf', hopConf(input).text],
    ['listeners.conf', listenersConf(input).text],
    ['log.conf', logConf(input).text],
    ['nginx.conf', nginxConf(input).text],
    ['simulate.conf', simulateConf(input).text],
  ]);
}
