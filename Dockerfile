FROM node:26-slim

WORKDIR /srv/latchkey
ENV NODE_ENV=production

# Dependencies first: they change less often than the code, so their layer is cached.
COPY package.json package-lock.json ./
# Without its install script the package "node" is only a few bytes; the image has its own Node.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

COPY bin bin
COPY config config
COPY src src

# The SQLite database is stored here; PostgreSQL needs no volume.
RUN mkdir data && chown node:node data
VOLUME /srv/latchkey/data

USER node
EXPOSE 3000 6001
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/health/live`).then((a) => process.exit(a.ok ? 0 : 1), () => process.exit(1))"]

# Ends in an exec of node, so that node receives the container's signals.
CMD ["bin/latchkey", "start"]
