// The names that scripts may use: fields of the request, functions and actions.

export const scriptFields = [
  'ip',
  'country',
  'province',
  'continent',
  'isp',
  'asn',
  'method',
  'scheme',
  'host',
  'port',
  'uri',
  'path',
  'args',
  'userAgent',
  'referer',
  'httpVersion',
  'contentLength',
  'fileExtension',
  'riskScore',
] as const;
export type ScriptField = (typeof scriptFields)[number];
export const isScriptField = (name: string): name is ScriptField => scriptFields.some((field) => field === name);

/** Numbers of arguments. `literal`: from this argument on only texts, known when the script is stored. */
export const scriptFunctions: Readonly<Record<string, { min: number; max: number; literal?: number }>> = {
  header: { min: 1, max: 1 },
  cookie: { min: 1, max: 1 },
  arg: { min: 1, max: 1 },
  contains: { min: 2, max: 2 },
  startsWith: { min: 2, max: 2 },
  endsWith: { min: 2, max: 2 },
  find: { min: 2, max: 2 },
  sub: { min: 2, max: 3 },
  lower: { min: 1, max: 1 },
  upper: { min: 1, max: 1 },
  matches: { min: 2, max: 2, literal: 1 },
  ipIn: { min: 1, max: 100, literal: 0 },
  tonumber: { min: 1, max: 1 },
  tostring: { min: 1, max: 1 },
  floor: { min: 1, max: 1 },
  min: { min: 2, max: 2 },
  max: { min: 2, max: 2 },
};

export const scriptActions = ['deny', 'drop', 'blacklist', 'allow', 'redirect'] as const;
export type ScriptAction = (typeof scriptActions)[number];
export const isScriptAction = (name: string): name is ScriptAction => scriptActions.some((action) => action === name);
