import { decodedPath } from '@edgeloom/contract/common/paths.ts';
import type { WafDoc } from '@edgeloom/contract/edge/module-doc.ts';
import { isLimited, StoredWafSettings, type WafException } from '@edgeloom/contract/waf/waf.ts';

export function wafDoc({ id, settings }: { id: string; settings: unknown }): WafDoc {
  const { mode, paranoia, disabledCategories, disabledRules, exceptions, bodyKiB, largeBodies } =
    StoredWafSettings.parse(settings);
  const limited = exceptions.filter(isLimited);
  return {
    kind: 'module',
    id,
    module: 'waf',
    mode,
    paranoia,
    disabled: [...new Set([...disabledCategories, ...disabledRules])].sort(),
    exceptions: exceptions.filter((exception) => !isLimited(exception)).map(exceptionDoc),
    ...(limited.length > 0 && { limitedExceptions: limited.map(limitedExceptionDoc) }),
    bodyBytes: bodyKiB * 1024,
    deniesLargeBodies: largeBodies === 'deny',
  };
}

const exceptionDoc = ({ rule, path, parameter }: WafException) => ({
  ...(rule !== null && { rule }),
  ...(path !== null && { path: decodedPath(path) }),
  ...(parameter !== null && { parameter: parameter.toLowerCase() }),
});

const limitedExceptionDoc = (exception: WafException) => ({
  ...exceptionDoc(exception),
  ...(exception.host !== null && { host: exception.host }),
  ...(exception.until !== null && { expires: Math.floor(Date.parse(exception.until) / 1000) }),
});
