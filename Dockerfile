# syntax=docker/dockerfile:1

# Two images from one bundle of the service: `cluster` (the default) and `embedded`, which also carries
# PostgreSQL and ClickHouse for role `all`.
#
#   docker build --target cluster  -t ghcr.io/looptrace/looptrace:0.1.0 .
#   docker build --target embedded -t ghcr.io/looptrace/looptrace:0.1.0-embedded .
#
# `make image-check` runs these steps without an engine, measures the result and starts it.
ARG NODE_IMAGE=docker.io/library/node:24.21.0-bookworm-slim
ARG CLUSTER_IMAGE=gcr.io/distroless/cc-debian12:nonroot
ARG EMBEDDED_IMAGE=docker.io/library/debian:12.12-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY console/package.json console/
RUN npm ci --no-audit --no-fund --loglevel=error
COPY scripts/bundle.ts scripts/prune-modules.ts scripts/sbom.ts scripts/
COPY scripts/bundle scripts/bundle
COPY src src
COPY console console
RUN node scripts/bundle.ts dist/looptrace
RUN node scripts/prune-modules.ts node_modules dist/looptrace/package.json
RUN node scripts/sbom.ts cluster.cdx.json --bundle=dist/looptrace --omit=optional
RUN node scripts/sbom.ts embedded.cdx.json --bundle=dist/looptrace

# MALLOC_MMAP_THRESHOLD_: buffers above 128 KB go back to the system when they are freed (decision 67).
FROM ${EMBEDDED_IMAGE} AS embedded
WORKDIR /app
# initdb asks for the name of the user it runs as.
RUN echo 'looptrace:x:10001:10001::/tmp:/usr/sbin/nologin' >> /etc/passwd
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/embedded.cdx.json ./sbom.cdx.json
COPY --from=build /app/dist/looptrace ./
COPY LICENSE ./
ENV NODE_ENV=production LOOPTRACE_DATA_DIRECTORY=/data MALLOC_MMAP_THRESHOLD_=131072
USER 10001:10001
ENTRYPOINT ["node", "/app/src/main.js"]
CMD ["all"]

FROM ${CLUSTER_IMAGE} AS cluster
WORKDIR /app
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=build /app/cluster.cdx.json ./sbom.cdx.json
COPY --from=build /app/dist/looptrace ./
COPY LICENSE ./
ENV NODE_ENV=production LOOPTRACE_DATA_DIRECTORY=/data MALLOC_MMAP_THRESHOLD_=131072
USER 10001:10001
ENTRYPOINT ["node", "/app/src/main.js"]
CMD ["help"]
