# syntax=docker/dockerfile:1

# Two images from one tree: `cluster` (the default) and `embedded`, which also carries PostgreSQL and
# ClickHouse for role `all`.
#
#   docker build --target cluster  -t ghcr.io/looptrace/looptrace:0.1.0 .
#   docker build --target embedded -t ghcr.io/looptrace/looptrace:0.1.0-embedded .
#
# `make image-check` runs these steps without an engine, measures the result and starts it.
ARG NODE_IMAGE=docker.io/library/node:24.21.0-bookworm-slim
ARG CLUSTER_IMAGE=gcr.io/distroless/cc-debian12:nonroot
ARG EMBEDDED_IMAGE=docker.io/library/debian:12.12-slim

FROM ${NODE_IMAGE} AS cluster-modules
WORKDIR /app
COPY package.json package-lock.json ./
COPY scripts/prune-modules.ts scripts/sbom.ts scripts/
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund --loglevel=error
RUN node scripts/prune-modules.ts node_modules
RUN node scripts/sbom.ts sbom.cdx.json --omit=optional

FROM ${NODE_IMAGE} AS embedded-modules
WORKDIR /app
COPY package.json package-lock.json ./
COPY scripts/prune-modules.ts scripts/sbom.ts scripts/
RUN npm ci --omit=dev --no-audit --no-fund --loglevel=error
RUN node scripts/prune-modules.ts node_modules
RUN node scripts/sbom.ts sbom.cdx.json

FROM ${EMBEDDED_IMAGE} AS embedded
WORKDIR /app
# initdb asks for the name of the user it runs as.
RUN echo 'looptrace:x:10001:10001::/tmp:/usr/sbin/nologin' >> /etc/passwd
COPY --from=embedded-modules /usr/local/bin/node /usr/local/bin/node
COPY --from=embedded-modules /app/node_modules ./node_modules
COPY --from=embedded-modules /app/sbom.cdx.json ./
COPY package.json LICENSE ./
COPY src ./src
ENV NODE_ENV=production LOOPTRACE_DATA_DIRECTORY=/data
USER 10001:10001
ENTRYPOINT ["node", "/app/src/main.ts"]
CMD ["all"]

FROM ${CLUSTER_IMAGE} AS cluster
WORKDIR /app
COPY --from=cluster-modules /usr/local/bin/node /usr/local/bin/node
COPY --from=cluster-modules /app/node_modules ./node_modules
COPY --from=cluster-modules /app/sbom.cdx.json ./
COPY package.json LICENSE ./
COPY src ./src
ENV NODE_ENV=production LOOPTRACE_DATA_DIRECTORY=/data
USER 10001:10001
ENTRYPOINT ["node", "/app/src/main.ts"]
CMD ["help"]
