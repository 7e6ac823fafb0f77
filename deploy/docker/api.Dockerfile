# The control plane: target "tools" has everything (migrations, first secrets), the last one what the API needs to run.
FROM node:24-bookworm-slim AS tools
WORKDIR /edgeloom
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml ./
COPY packages/contract/package.json packages/contract/
COPY apps/api/package.json apps/api/
COPY apps/console/package.json apps/console/
COPY agent/package.json agent/
RUN npx -y pnpm@12.21.0 install --frozen-lockfile
COPY . .
RUN node prisma/generate.ts && node deploy/build.ts
ENV NODE_ENV=production
ENTRYPOINT ["deploy/docker/entrypoint.sh"]
CMD ["node", "deploy/docker/setup.ts"]

FROM tools AS pruned
RUN CI=true npx -y pnpm@12.21.0 install --frozen-lockfile --prod --filter @edgeloom/api...

FROM node:24-bookworm-slim
WORKDIR /edgeloom
COPY --from=pruned /edgeloom/node_modules node_modules
COPY --from=pruned /edgeloom/package.json ./
COPY --from=pruned /edgeloom/packages/contract packages/contract
COPY --from=pruned /edgeloom/apps/api apps/api
# Its renderer shows and tests what nodes would run.
COPY --from=pruned /edgeloom/agent agent
COPY --from=pruned /edgeloom/apps/console/dist apps/console/dist
COPY --from=pruned /edgeloom/deploy/docker/entrypoint.sh deploy/docker/
ENV NODE_ENV=production HOST=0.0.0.0 ADMIN_HOST=0.0.0.0 CONSOLE_DIR=/edgeloom/apps/console/dist RELEASES_DIR=/releases RELEASE_KEYS=/releases/keys.pem SECRETS_DIR=/secrets
USER node
EXPOSE 8080 8081
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/api/v1/health').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["deploy/docker/entrypoint.sh"]
CMD ["node", "apps/api/src/main.ts"]
