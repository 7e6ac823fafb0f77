// Unsaved origins in the editor.
import { Upstreams } from '@edgeloom/contract/domains/domains.ts';
import { ruleText } from '../../lib/errors.ts';
import { issuesOf } from '../../lib/schema.ts';

export interface Origin {
  /** Null until saved. */
  id: string | null;
  /** React key, also for new rows. */
  key: string;
  address: string;
  port: number;
  weight: number;
  backup: boolean;
  enabled: boolean;
}

let made = 0;
export const newOrigin = (port: number): Origin => {
  made += 1;
  return { id: null, key: `new${made}`, address: '', port, weight: 10, backup: false, enabled: true };
};

/** Errors of a template's origins by path. Untouched origins show errors only after submission. */
export function templateFaults(origins: readonly Origin[], refused: ReadonlyMap<string, string>, tried: boolean) {
  const upstreams = upstreamsOf(origins);
  const issues = new Map(issuesOf(Upstreams, upstreams).map((issue) => [issue.path, issue]));
  const isGood = issues.size === 0 && upstreams.some(({ enabled }) => enabled);
  const fault = (path: string) => {
    const [, key, field] = path.split('.');
    const i = origins.findIndex((origin) => origin.key === key);
    const issue = issues.get(`${i}.${field}`);
    const serverError = refused.get(`upstreams.${i}.${field}`);
    if (serverError !== undefined || !tried || !issue) return serverError;
    return ruleText(upstreams[i]?.address === '' ? 'required' : issue.rule, issue.message, issue.values);
  };
  return { isGood, fault };
}

export const upstreamsOf = (origins: readonly Origin[]) => origins.map(({ id: _, key: __, ...upstream }) => upstream);
