// Domain names of other scripts, which are stored in punycode (RFC 3492).
import { asciiName } from '@edgeloom/contract/common/net.ts';

const BASE = 36;
const T_MIN = 1;
const T_MAX = 26;

/** The name in its script: `例え.jp` for `xn--r8jz45g.jp`. Null if there is no such form. */
export function readableName(name: string): string | null {
  if (!/(^|\.)xn--/.test(name)) return null;
  const readable = name
    .split('.')
    .map((label) => (label.startsWith('xn--') ? decode(label.slice(4)) : label))
    .join('.');
  return readable !== name && asciiName(readable) === name ? readable : null;
}

/** The empty text if the label is not valid. */
function decode(label: string): string {
  const hyphen = label.lastIndexOf('-');
  const points = Array.from(label.slice(0, Math.max(0, hyphen)), (letter) => letter.codePointAt(0) ?? 0);
  let [point, bias, index, at] = [128, 72, 0, hyphen + 1];
  while (at < label.length) {
    const before = index;
    let digit: number;
    for (let [weight, step] = [1, BASE]; ; step += BASE) {
      digit = Number.parseInt(label[at++] ?? '', BASE);
      digit = digit < 10 ? digit + 26 : digit - 10;
      index += digit * weight;
      const threshold = Math.min(T_MAX, Math.max(T_MIN, step - bias));
      if (!(digit >= threshold)) break;
      weight *= BASE - threshold;
    }
    bias = adapted(index - before, points.length + 1, before === 0);
    point += Math.floor(index / (points.length + 1));
    index %= points.length + 1;
    if (!(point <= 0x10_ff_ff)) return '';
    points.splice(index++, 0, point);
  }
  return String.fromCodePoint(...points);
}

function adapted(delta: number, length: number, isFirst: boolean): number {
  let rest = Math.floor(delta / (isFirst ? 700 : 2));
  rest += Math.floor(rest / length);
  let bias = 0;
  for (; rest > ((BASE - T_MIN) * T_MAX) / 2; bias += BASE) rest = Math.floor(rest / (BASE - T_MIN));
  return bias + Math.floor((BASE * rest) / (rest + 38));
}
