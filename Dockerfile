# The service, and the sandbox of the provider. Nothing is compiled: Node strips the types. deploy/README.md says how to run it.
#   docker build -t confere .
#   docker build -t confere-tools --target tools .      with mariadb-dump, for confere backup and restore
# The digest is that of the index of all platforms; .node-version has the same version.
ARG BASE=docker.io/library/node:24.21.0-bookworm-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20

FROM ${BASE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
 && install -d -o 1000 -g 1000 node_modules/.cache
COPY LICENSE ./
COPY bin bin
COPY docs docs
COPY embedded embedded
COPY jobs jobs
COPY migrations migrations
COPY sandbox sandbox
COPY src src
# Types are stripped once, here, because the root is read-only later. Node keeps them by user id: 1000 is the base's user node.
USER 1000:1000
RUN bin/confere --help > /dev/null && bin/confere sandbox --help > /dev/null
USER root
RUN chmod -R a+rX node_modules/.cache

FROM ${BASE} AS runtime
# As process 1 a program ignores signals that it does not handle yet: without tini, a SIGTERM in the second of the start is lost.
RUN apt-get update && apt-get install -y --no-install-recommends tini && rm -rf /var/lib/apt/lists/* \
 && install -d -o 1000 -g 1000 -m 0700 /var/lib/confere
COPY --from=build /app /app
WORKDIR /app
ENV PATH=/app/bin:$PATH NODE_ENV=production HOST=0.0.0.0 PORT=3000 \
    DATA_DIR=/var/lib/confere/data SPOOL_DIR=/var/lib/confere/spool
USER 1000:1000
VOLUME /var/lib/confere
EXPOSE 3000
STOPSIGNAL SIGTERM
# Alive. /readyz says whether it takes webhooks: that one is for the balancer.
HEALTHCHECK --interval=15s --timeout=3s --start-period=60s --retries=3 \
  CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/$PORT && printf 'GET /healthz HTTP/1.0\\r\\n\\r\\n' >&3 && grep -q '^HTTP/1.1 200' <&3"]
ENTRYPOINT ["tini", "--", "confere"]
CMD ["serve"]

FROM runtime AS tools
USER root
RUN apt-get update && apt-get install -y --no-install-recommends mariadb-client && rm -rf /var/lib/apt/lists/*
USER 1000:1000

FROM runtime AS service
