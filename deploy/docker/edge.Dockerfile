# An edge node: the bundled agent, the image library and Debian's nginx with its dynamic modules.
ARG BASE=node:24-bookworm-slim
ARG INSTALL_FLAGS=
FROM ${BASE} AS build
WORKDIR /edgeloom
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml ./
COPY packages/cli/package.json packages/cli/
COPY packages/contract/package.json packages/contract/
COPY packages/waf-rules/package.json packages/waf-rules/
COPY apps/api/package.json apps/api/
COPY apps/console/package.json apps/console/
COPY agent/package.json agent/
ARG INSTALL_FLAGS
RUN npx -y pnpm@12.21.0 install $INSTALL_FLAGS --frozen-lockfile
COPY . .
RUN node deploy/build.ts --only agent

FROM ${BASE}
RUN apt-get update \
  && apt-get install -y --no-install-recommends \
    nginx libnginx-mod-http-ndk libnginx-mod-http-lua libnginx-mod-stream libnginx-mod-http-brotli-filter \
    libnginx-mod-http-geoip2 libnginx-mod-stream-geoip2 lua-resty-core lua-resty-lrucache lua-cjson ca-certificates \
  && rm -rf /var/lib/apt/lists/* /etc/nginx/sites-enabled/default
COPY --from=build /edgeloom/dist /opt/edgeloom
COPY --from=build /edgeloom/deploy/docker/entrypoint.sh /opt/edgeloom/
ENV EDGELOOM_DIR=/var/lib/edgeloom
VOLUME /var/lib/edgeloom
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "require('node:http').get({ socketPath: '/var/lib/edgeloom/run/admin.sock', path: '/status' }, (answer) => process.exit(answer.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
ENTRYPOINT ["/opt/edgeloom/entrypoint.sh"]
CMD ["node", "/opt/edgeloom/agent.mjs", "run", "--with-nginx"]
