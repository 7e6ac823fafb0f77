import { decodedPath } from '@edgeloom/contract/common/paths.ts';
import type { WafDoc } from '@edgeloom/contract/edge/module-doc.ts';
import { WafSettings } from '@edgeloom/contract/waf/waf.ts';

export function wafDoc({ id, settings }: { id: string; settings: unknown }): WafDoc {
  const { mode, paranoia, disabledCategories, disabledRules, exceptions, bodyKiB, largeBodies } =
    WafSettings.parse(settings);
  return {
    kind: 'module',
    id,
    module: 'waf',
    mode,
    paranoia,
    disabled: [...new Set([...disabledCategories, ...disabledRules])].sort(),
    exceptions: exceptions.map(({ rule, path, parameter }) => ({
      ...(rule !== null && { rule }),
      ...(path !== null && { path: decodedPath(path) }),
      ...(parameter !== null && { parameter: parameter.toLowerCase() }),
    })),
    bodyBytes: bodyKiB * 1024,
    deniesLargeBodies: largeBodies === 'deny',
  };
}
