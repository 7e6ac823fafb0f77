# The control plane. Target "tools" has everything (migrations, secrets:init); the last target has what the API needs.
ARG BASE=node:24-bookworm-slim
# For example --offline, if the base image has a pnpm store.
ARG INSTALL_FLAGS=
FROM ${BASE} AS manifests
WORKDIR /edgeloom
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml ./
COPY packages/cli/package.json packages/cli/
COPY packages/contract/package.json packages/contract/
COPY packages/waf-rules/package.json packages/waf-rules/
COPY apps/api/package.json apps/api/
COPY apps/console/package.json apps/console/
COPY agent/package.json agent/

FROM manifests AS tools
ARG INSTALL_FLAGS
RUN npx -y pnpm@12.21.0 install $INSTALL_FLAGS --frozen-lockfile
COPY . .
RUN node prisma/generate.ts && node deploy/build.ts
ENV NODE_ENV=production
ENTRYPOINT ["deploy/docker/entrypoint.sh"]
CMD ["node", "deploy/docker/setup.ts"]

# A second, clean installation, because pruning the first one leaves files in its store.
FROM manifests AS production
ARG INSTALL_FLAGS
RUN npx -y pnpm@12.21.0 install $INSTALL_FLAGS --frozen-lockfile --prod --filter @edgeloom/api...

FROM ${BASE}
# nginx validates operators' snippets in its own namespaces (unshare, setpriv, prlimit of util-linux).
RUN apt-get update \
  && apt-get install -y --no-install-recommends \
    nginx libnginx-mod-http-ndk libnginx-mod-http-lua libnginx-mod-stream libnginx-mod-http-brotli-filter \
    libnginx-mod-http-geoip2 libnginx-mod-stream-geoip2 lua-resty-core lua-resty-lrucache lua-cjson ca-certificates \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /edgeloom
COPY --from=production /edgeloom ./
COPY --from=tools /edgeloom/packages/contract/src packages/contract/src
COPY --from=tools /edgeloom/packages/waf-rules/src packages/waf-rules/src
COPY --from=tools /edgeloom/apps/api/src apps/api/src
# The agent's renderer previews and validates the nodes' configuration.
COPY --from=tools /edgeloom/agent/src agent/src
COPY --from=tools /edgeloom/agent/lua agent/lua
COPY --from=tools /edgeloom/apps/console/dist apps/console/dist
COPY --from=tools /edgeloom/deploy/docker/entrypoint.sh deploy/docker/
ENV NODE_ENV=production HOST=0.0.0.0 ADMIN_HOST=0.0.0.0 CONSOLE_DIR=/edgeloom/apps/console/dist RELEASES_DIR=/releases \
  RELEASE_KEYS=/releases/keys.pem ARTIFACTS_DIR=/artifacts SECRETS_DIR=/secrets
USER node
EXPOSE 8080 8081
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/api/v1/health').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["deploy/docker/entrypoint.sh"]
CMD ["node", "apps/api/src/main.ts"]
