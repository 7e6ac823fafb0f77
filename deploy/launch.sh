#!/bin/sh
# Starts the agent of a node (`launch run`): the release that serves (`current`), or one that is on trial. It lies beside the releases and
# stays as it was installed, for what decides on the way back must not come with what may be broken; and it is no more than
# a shell needs, so that it works wherever the agent may not.
#
# A trial is a folder that the agent makes before it ends: `to`, which release. Nothing but a release that has seen itself
# serve makes itself `current`; whatever happens before, the next start finds the one before where it was. Given up is
#   - a release that ended three times, by itself or with the machine,
#   - one that has said why (`why`),
#   - one that neither became `current` nor said that it lives (`alive`) for EDGELOOM_TRIAL_SECONDS: it is ended, too.
# The folder is then called `failed`, and the release before tells of it.
set -u
home=$(cd "$(dirname "$0")" && pwd -P)
trial=$home/trial
seconds=${EDGELOOM_TRIAL_SECONDS:-90}

# Where the disk is full it goes back without a word.
give_up() {
  [ -s "$trial/why" ] || printf '%s\n' "$1" > "$trial/why"
  rm -rf "$home/failed"
  mv "$trial" "$home/failed"
}

# When a process began: its number may be another's by now. Asked before it may have ended.
began() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20; }

watch() {
  exec < /dev/null > /dev/null 2>&1
  said=
  while :; do
    left=$seconds
    while [ "$left" -gt 0 ]; do
      sleep 1
      left=$((left - 1))
      [ -e "$trial/to" ] && [ "$(began "$1")" = "$2" ] || return
    done
    says=$(cat "$trial/alive" 2>/dev/null)
    if [ "$says" = "$said" ]; then
      printf 'it was not well within %s s: %s\n' "$seconds" "$(cat "$trial/state" 2>/dev/null || echo 'it said nothing')" > "$trial/why"
      kill -KILL "$1"
      return
    fi
    said=$says
  done
}

release=current
unset EDGELOOM_TRIAL
if [ -e "$trial/to" ]; then
  to=releases/$(cat "$trial/to")
  starts=$(wc -l 2>/dev/null < "$trial/starts" || echo 0)
  if [ "$(readlink "$home/current")" = "$to" ]; then
    : # It has become what serves, and has yet to tidy up.
  elif [ -s "$trial/why" ]; then
    give_up ''
  elif [ ! -e "$home/$to/agent.mjs" ]; then
    give_up 'its files are not there'
  elif [ "$starts" -ge 3 ]; then
    give_up "it ended $((starts)) times before it was well; its last words are in the log of the service"
  elif ! echo started >> "$trial/starts"; then
    # Starts that cannot be counted would go on for ever.
    give_up 'there is no room on the disk to try it'
  else
    release=$to
    export EDGELOOM_TRIAL="$trial"
    start=$(began "$$")
    # In the process that becomes the agent; what watches it is nobody's child.
    (watch "$$" "$start" &)
  fi
fi
export EDGELOOM_HOME="$home"
exec "$home/node/bin/node" "$home/$release/agent.mjs" "$@"
