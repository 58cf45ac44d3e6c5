# Builds in one stage what the other runs. docs/deployment.md says how to use the image.

FROM node:26-trixie-slim AS build
WORKDIR /srv/latchkey
ENV NODE_ENV=production

# Dependencies first: they change less often than the code, so their layer is cached.
COPY package.json package-lock.json ./
# Without its install script the package "node" is only a few bytes; the image has its own Node.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

COPY bin bin
COPY config config
COPY src src
COPY deploy/image deploy/image
# The bundler has done its work once there is a bundle.
RUN node deploy/image/slim.ts && node bin/run.mjs bundle && rm -rf node_modules/rolldown node_modules/@rolldown \
  && mkdir -p backups data node_modules/.cache/compiled && chown node:node backups data node_modules/.cache/compiled

# Node keeps a compile cache for each user, so this must be the one that runs the service.
USER node
RUN node deploy/image/warm-up.ts


# Without npm and its like.
FROM debian:trixie-slim
# What the node binary is linked with and the base image lacks.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends libatomic1 libstdc++6 \
  && rm -rf /var/lib/apt/lists/* \
  && groupadd --gid 1000 node \
  && useradd --uid 1000 --gid node --home-dir /srv/latchkey --no-create-home --shell /usr/sbin/nologin node
COPY --from=build /usr/local/bin/node /usr/local/bin/node

WORKDIR /srv/latchkey
ENV NODE_ENV=production
# Everything belongs to root: the service cannot change its own code.
COPY --from=build /srv/latchkey/package.json ./
COPY --from=build /srv/latchkey/bin bin
COPY --from=build /srv/latchkey/config config
COPY --from=build /srv/latchkey/.bundle .bundle
COPY --from=build /srv/latchkey/node_modules node_modules
COPY --from=build /srv/latchkey/src src

# The SQLite database is stored here; PostgreSQL needs no volume. Nothing else is written to, apart from /tmp.
COPY --from=build --chown=node:node /srv/latchkey/data data
# A volume that is mounted here belongs to the user of the service; see BACKUP_FOLDER.
COPY --from=build --chown=node:node /srv/latchkey/backups backups
VOLUME /srv/latchkey/data

# By number: Kubernetes cannot tell from a name that it is not root.
USER 1000:1000
EXPOSE 3000 6001
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --start-interval=1s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/health/live`).then((a) => process.exit(a.ok ? 0 : 1), () => process.exit(1))"]

# Ends in an exec of node, so that node receives the container's signals.
CMD ["bin/latchkey", "start"]
