#!/bin/sh
# Starts a node's agent (`launch run`): the current release, or one on trial. The launcher is not part of a release, because
# the program that rolls back must not come with the release that may be broken. Plain shell, so that it works without Node.
#
# A trial is a folder that the agent creates before it exits; its file `to` names the release. Only the new release itself
# switches `current`, after it serves; until then the next start uses the previous release. A trial fails for a release that
#   - exited three times, including restarts of the machine,
#   - has written its error (`why`),
#   - neither became `current` nor updated `alive` for EDGELOOM_TRIAL_SECONDS: it is killed.
# The folder is then renamed to `failed`, and the previous release reports it.
set -u
home=$(cd "$(dirname "$0")" && pwd -P)
trial=$home/trial
seconds=${EDGELOOM_TRIAL_SECONDS:-90}

# On a full disk it rolls back without a report.
give_up() {
  [ -s "$trial/why" ] || printf '%s\n' "$1" > "$trial/why"
  rm -rf "$home/failed"
  mv "$trial" "$home/failed"
}

# Start time of a process, because its pid may be reused.
began() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20; }

watch() {
  exec < /dev/null > /dev/null 2>&1
  previous=
  while :; do
    left=$seconds
    while [ "$left" -gt 0 ]; do
      sleep 1
      left=$((left - 1))
      [ -e "$trial/to" ] && [ "$(began "$1")" = "$2" ] || return
    done
    alive=$(cat "$trial/alive" 2>/dev/null)
    if [ "$alive" = "$previous" ]; then
      printf 'not healthy within %s s: %s\n' "$seconds" "$(cat "$trial/state" 2>/dev/null || echo 'no state reported')" > "$trial/why"
      kill -KILL "$1"
      return
    fi
    previous=$alive
  done
}

release=current
unset EDGELOOM_TRIAL
if [ -e "$trial/to" ]; then
  to=releases/$(cat "$trial/to")
  starts=$(wc -l 2>/dev/null < "$trial/starts" || echo 0)
  if [ "$(readlink "$home/current")" = "$to" ]; then
    : # The release is already current. It deletes the trial folder itself.
  elif [ -s "$trial/why" ]; then
    give_up ''
  elif [ ! -e "$home/$to/agent.mjs" ]; then
    give_up 'the files of the release are missing'
  elif [ "$starts" -ge 3 ]; then
    give_up "exited $((starts)) times before it was healthy; see the log of the service"
  elif ! echo started >> "$trial/starts"; then
    # Without a count the starts would never end.
    give_up 'the disk is full'
  else
    release=$to
    export EDGELOOM_TRIAL="$trial"
    start=$(began "$$")
    # This process becomes the agent. The double fork detaches the watcher from it.
    (watch "$$" "$start" &)
  fi
fi
export EDGELOOM_HOME="$home"
exec "$home/node/bin/node" "$home/$release/agent.mjs" "$@"
