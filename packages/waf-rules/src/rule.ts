import type { WafCategory } from '@edgeloom/contract/waf/waf.ts';

export interface Words {
  en: string;
  'zh-TW': string;
  'zh-CN': string;
}
/** Where a rule looks. `target`: path and query, decoded. `decoded`: text that was in base64. */
export type Place =
  | 'target'
  | 'path'
  | 'query'
  | 'form'
  | 'json'
  | 'xml'
  | 'document'
  | 'raw'
  | 'name'
  | 'cookie'
  | 'header'
  | 'referer'
  | 'userAgent'
  | 'filename'
  | 'file'
  | 'decoded';

export interface RuleData {
  id: string;
  /** A sum of 5 points on a suspicious value refuses the request: critical 5, error 4, warning 3, notice 2. */
  severity: 'critical' | 'error' | 'warning' | 'notice';
  /** The lowest paranoia level that has the rule. */
  paranoia: 1 | 2 | 3 | 4;
  /** Counts although the model finds the value ordinary: no honest client sends this. */
  alone?: true;
  targets: readonly Place[];
  references: readonly string[];
  /** For decoded text in lower case. */
  pattern: string;
  /** Values that the rule finds, and others that it must not. */
  hits: readonly string[];
  misses: readonly string[];
  name: Words;
  description: Words;
}

export interface RuleFile {
  category: WafCategory;
  /** Names the finding where the model alone refuses a value. */
  model: { name: Words; description: Words };
  rules: readonly RuleData[];
}

export const words = (en: string, tw: string, cn: string): Words => ({ en, 'zh-TW': tw, 'zh-CN': cn });

/** Values that visitors choose. */
export const values = [
  'path',
  'query',
  'form',
  'json',
  'xml',
  'raw',
  'cookie',
  'header',
  'referer',
  'decoded',
] as const;
/** The same without free header fields, for texts that are ordinary there. */
export const inputs = ['query', 'form', 'json', 'xml', 'raw', 'cookie', 'decoded'] as const;
export const pathsAndValues = ['path', 'query', 'form', 'json', 'raw', 'cookie', 'decoded'] as const;
