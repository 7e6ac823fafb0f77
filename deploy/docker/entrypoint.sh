#!/bin/sh
# Docker secrets are files; the programs read environment variables.
set -eu
if [ -r /run/secrets/postgres_password ] && [ -z "${DATABASE_URL:-}" ]; then
  export DATABASE_URL="postgresql://edgeloom:$(cat /run/secrets/postgres_password)@${POSTGRES_HOST:-postgres}:5432/edgeloom"
fi
if [ -n "${PUBLISHED_PORT:-}" ]; then
  export PUBLIC_URL="${PUBLIC_URL:-http://127.0.0.1:$PUBLISHED_PORT}"
  export ADMIN_URL="${ADMIN_URL:-http://127.0.0.1:$PUBLISHED_ADMIN_PORT}"
fi
if [ -r /join/token ] && [ -z "${EDGELOOM_TOKEN:-}" ]; then
  export EDGELOOM_TOKEN="$(cat /join/token)"
fi
exec "$@"
