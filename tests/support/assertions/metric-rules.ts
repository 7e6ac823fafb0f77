// Prometheus' rules for metrics, and the metrics that the dashboard and the alerts use.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const monitoring = path.join(import.meta.dirname, '../../../deploy/monitoring');
export const alertsFile = path.join(monitoring, 'alerts.yml');
export const dashboardFile = path.join(monitoring, 'dashboard.json');

/** Units must be base units: seconds, bytes, ratios. */
const otherUnits =
  /_(?:ms|milliseconds|microseconds|minutes|hours|days|kb|mb|gb|kilobytes|megabytes|bits|percent)(?:_|$)/;

/** The faults that `promtool check metrics` would report. */
export function metricFaults(response: string): string[] {
  const types = metricTypes(response);
  const faults = [...types].flatMap(([name, type]) => {
    const found: string[] = [];
    if (!/^[a-z][a-z0-9_]*$/.test(name)) found.push('not in snake case');
    if (name.endsWith('_total') !== (type === 'counter')) found.push('only counters end with _total, and all do');
    if (/_(?:count|sum|bucket)$/.test(name)) found.push('ends with a suffix of histograms');
    if (/(?:^|_)(?:gauge|counter|histogram|summary)(?:_|$)/.test(name)) found.push('names its type');
    if (otherUnits.test(name)) found.push('not in a base unit');
    if (!new RegExp(`^# HELP ${name} \\S`, 'm').test(response)) found.push('no help');
    return found.map((fault) => `${name}: ${fault}`);
  });
  return [...faults, ...promtool(['check', 'metrics'], response)];
}

/** The type of each metric. */
export const metricTypes = (response: string): Map<string, string> =>
  new Map(Array.from(response.matchAll(/^# TYPE (\S+) (\S+)$/gm), ([, name = '', type = '']) => [name, type]));

/** Metrics in expressions of the dashboard and the alerts that begin with the prefix. */
export function monitoredMetrics(prefix: RegExp): string[] {
  const texts = [readFileSync(alertsFile, 'utf8'), readFileSync(dashboardFile, 'utf8')];
  const expressions = texts.flatMap((text) =>
    Array.from(text.matchAll(/^\s*"?expr"?: (.+)$/gm), ([, one = '']) => one),
  );
  const names = expressions.flatMap((one) => one.match(/\b(?:edgeloom|process|nodejs)_[a-z0-9_]+/g) ?? []);
  return [...new Set(names.map((name) => name.replace(/_(?:bucket|count|sum)$/, '')))].filter((name) =>
    prefix.test(name),
  );
}

/** The faults that promtool reports. Empty if promtool is not installed. */
export function promtool(args: string[], input = ''): string[] {
  const { error, status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  return error !== undefined || status === 0 ? [] : `${stdout}${stderr}`.trim().split('\n');
}
