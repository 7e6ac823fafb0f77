// Installation by pull: a pasted line fetches `installScript`, the same for everyone. It reports the machine and
// receives `setupScript` for the node's join token: the installation's steps that run on the machine. Both are wrapped
// in a function called in the last line, so that a truncated script does nothing.
import path from 'node:path';
import type { Installation } from '../core/installation.ts';
import { packagesOf, releaseOf, runtimeOf, serverOf, type System } from './artifacts.ts';
import { hashOf, releaseKeys } from '../releases/store.ts';
import { quote, StepFailure } from './host.ts';
import { refuseAnother } from './new-join.ts';
import * as scripts from './scripts.ts';
import { isMonitor, plainPorts, portsOf, type Target } from './target.ts';

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export const controlOf = ({ NODE_CONTROL_URL, PUBLIC_URL }: Installation['env']) =>
  (NODE_CONTROL_URL ?? PUBLIC_URL).replace(/\/+$/, '');

/** The agent's environment, besides its token. */
export const variablesFor = (env: Installation['env'], target: Target): Record<string, string> => ({
  EDGELOOM_CONTROL: controlOf(env),
  ...(isMonitor(target) && { EDGELOOM_ROLE: 'monitor' }),
});

/** The token is sent by standard input: every user of the machine could read sudo's arguments. */
export const lineFor = (env: Installation['env'], token: string) =>
  `(echo EDGELOOM_TOKEN=${token}; curl -fsSL ${controlOf(env)}/api/v1/node/install.sh) | sudo sh`;

const sub = (script: string) => `(\n${script})`;

/** curl reads its header from standard input, so that no other process sees it. */
const authorized = `printf 'header = "Authorization: Bearer %s"\\n' "$token" | curl -sS -K - --retry 3 --connect-timeout 15`;

export const installScript = (env: Installation['env']) => `#!/bin/sh
# Makes this machine a node of ${new URL(controlOf(env)).host}. It takes a join token, as EDGELOOM_TOKEN.
set -eu
refuse() { printf 'Not installed: %s\\n' "$1" >&2; exit 1; }
main() {
  export LC_ALL=C PATH=${PATH}
  token=\${EDGELOOM_TOKEN:-}
  unset EDGELOOM_TOKEN
  [ "$(id -u)" = 0 ] || refuse 'this is for root: end the line with "| sudo sh"'
  case "$token" in ''|*[!A-Za-z0-9_-]*) refuse 'it takes the line of the console as a whole, with its token' ;; esac
  for program in curl tar gzip sha256sum awk sed; do
    command -v "$program" >/dev/null || refuse "$program is missing on this machine"
  done
  dir=$(mktemp -d /var/tmp/edgeloom-install.XXXXXX)
  trap 'rm -rf "$dir"' EXIT
  trap 'exit 1' HUP INT TERM
  here=$(
${sub(scripts.identity)}
  )
  machine=$(
${sub(scripts.detect)}
  )
  set -- \${machine#::system }
  printf 'This machine: %s %s on %s\\n' "$1" "$2" "$3"
  code=$(${authorized} -o "$dir/setup" -w '%{http_code}' -G --data-urlencode "system=$1" --data-urlencode "version=$2" \\
    --data-urlencode "arch=$3" --data-urlencode "node=\${here#::node }" \\
    ${quote(`${controlOf(env)}/api/v1/node/setup`)}) ||
    refuse 'the control plane was not reached'
  case "$code" in
    200) ;;
    401) refuse 'this token is no longer good: it was used, or its time is over. Take a new line in the console' ;;
    *) refuse "the control plane returned HTTP $code: $(head -c 300 "$dir/setup")" ;;
  esac
  { sh "$dir/setup" </dev/null && : > "$dir/done"; } 2>&1 |
    sed -e 's/^::fault [a-zA-Z]* /Not installed: /' -e '/^::/d'
  [ -e "$dir/done" ]
}
main
`;

interface Asking {
  installation: Installation;
  target: Target;
  system: System;
  /** The node that the machine already is. */
  present: string;
  token: string;
  now: Date;
}

/** The script also reports problems that it cannot fix. */
export async function setupScript(asking: Asking): Promise<string> {
  try {
    return whole(await steps(asking));
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error;
    return whole(`fault ${error.fault} ${quote(error.message)}`);
  }
}

const whole = (text: string) => `set -eu
fault() { printf '::fault %s %s\\n' "$1" "$2"; exit 1; }
main() {
${text}
}
main
`;

async function steps({ installation, target, system, present, token, now }: Asking): Promise<string> {
  const isItself = present === target.id && target.publicKey !== null;
  await refuseAnother(installation, present, target);
  const program = packagesOf(system);
  const [server, runtime, release, keys] = await Promise.all([
    serverOf(system, installation.env),
    runtimeOf(system, installation.env),
    releaseOf(installation.env),
    releaseKeys(installation.env),
  ]);
  const url = `${controlOf(installation.env)}/api/v1/node/artifact`;
  const ports = target.ports.map(({ port }) => port);
  const fetched = async (file: string) => `fetch ${quote(path.basename(file))} ${await hashOf(file)}`;
  const variables = variablesFor(installation.env, target);

  const needsServer = !isMonitor(target);
  const fetchServer =
    needsServer && server.from === 'file' ? whenMissing(scripts.openrestyIsInstalled, await fetched(server.file)) : '';
  const installServer = sub(
    server.from === 'distribution'
      ? scripts.debianNginx
      : scripts.openresty(program, server.from === 'file' ? { file: `./${path.basename(server.file)}` } : server),
  );
  const fetchNode =
    runtime.from === 'file'
      ? await fetched(runtime.file)
      : runtime.from === 'nowhere'
        ? `fault artifact ${quote(runtime.why)}`
        : ':';
  const installNode =
    runtime.from === 'file'
      ? `${sub(scripts.unpackRuntime(runtime.compression))} < "$dir"/${quote(path.basename(runtime.file))}`
      : sub(scripts.runtimeOfDistribution);

  return `
token=${token}
dir=$(dirname "$0")
step() { printf '\\n%s\\n' "$1"; }
fetch() {
  ${authorized} -f -o "$dir/$1" ${url}/"$1" || fault artifact "$1 was not fetched; nothing was changed"
  printf '%s  %s\\n' "$2" "$dir/$1" | sha256sum -c >/dev/null 2>&1 || fault artifact "$1 is not what was sent; nothing was changed"
  printf 'fetched %s\\n' "$1"
}

step 'Looking whether it fits'
off=$(($(date +%s) - ${Math.floor(now.getTime() / 1000)}))
[ "\${off#-}" -le ${scripts.MAX_SKEW_S} ] || fault clock "the clock of this machine is $off s off"
${sub(scripts.checkRoom(ports))}

step 'Fetching what is needed'
${fetchServer}
${whenMissing(scripts.runtimeNeedsInstall, fetchNode)}
${whenMissing(scripts.releaseNeedsInstall(release.name), `fetch ${release.file} ${release.sha256}`)}

cd "$dir"
${needsServer ? `step 'Installing the server'\n${installServer}` : sub(scripts.ping(program))}

step 'Installing Node'
${whenMissing(scripts.runtimeIsInstalled, installNode)}

step 'Installing the agent'
${whenMissing(scripts.releaseIsInstalled(release.name), `${sub(scripts.unpackRelease(release.name, release.signed))} < "$dir/${release.file}"`)}

step 'Setting the system up'
${present !== '' && !isItself ? sub(scripts.forgetNode) : ''}
${sub(scripts.environment(isItself ? variables : { ...variables, EDGELOOM_TOKEN: token }, keys))}
${sub(scripts.system(portsOf(target)))}

step 'Starting'
${sub(scripts.start)}
${sub(scripts.joined(target.id, plainPorts(target)))}
${sub(scripts.forgetToken)}
printf '\\nThis machine is a ${isMonitor(target) ? 'monitor' : 'node'} now.\\n'
`;
}

const whenMissing = (question: string, then: string) => `found=$(
${sub(question)}
)
case "$found" in
  *::absent*)
${then}
  ;;
  '') ;;
  *) printf '%s\\n' "$found" ;;
esac`;
