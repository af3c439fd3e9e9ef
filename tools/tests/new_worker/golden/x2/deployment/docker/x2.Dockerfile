# One worker as an image: the same file for every worker but for the next line.
ARG WORKER=x2 METRICS_PORT=9301
#checkov:skip=CKV_DOCKER_7:PYTHON_IMAGE names a version, or a digest where a build gives one
ARG PYTHON_IMAGE=docker.io/library/python:3.13-slim-trixie

FROM ${PYTHON_IMAGE} AS build
ARG WORKER
ENV UV_COMPILE_BYTECODE=1 \
    UV_LINK_MODE=copy \
    UV_NO_CACHE=1 \
    UV_PROJECT_ENVIRONMENT=/opt/acme_works \
    UV_PYTHON_DOWNLOADS=never \
    UV_SYSTEM_CERTS=true
RUN python3 -m venv /opt/uv && /opt/uv/bin/pip install --no-cache-dir --quiet uv==0.13.9
WORKDIR /source
COPY . .
# The lock in the repository names no index: it is completed with the one that this build is set up with. The program
# gets one name in every image, so that the lines below need not know the worker's.
RUN PYTHONPATH=tools/src python3 -m acme_works.tools.lock hydrate --uv /opt/uv/bin/uv && \
    /opt/uv/bin/uv sync --frozen --no-default-groups --no-editable --python python3 \
        --package "acme-works-${WORKER}" --package acme-works-infra --extra errors --extra tracing && \
    ln -s "acme-works-${WORKER}" /opt/acme_works/bin/worker

FROM ${PYTHON_IMAGE}
ARG METRICS_PORT
COPY --from=build /opt/acme_works /opt/acme_works
# Certificates and time zones are looked up in these: an image without them must not be built.
RUN test -s /etc/ssl/certs/ca-certificates.crt && test -s /usr/share/zoneinfo/UTC
# Metrics and probes are to be reached from outside the container; nothing else listens.
ENV ACME_WORKS_METRICS_HOST=0.0.0.0 \
    PATH=/opt/acme_works/bin:/usr/local/bin:/usr/bin:/bin \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    PYTHONUTF8=1
USER 65532:65532
WORKDIR /
# Where a platform mounts its own volume here, that takes this folder's rights: anybody may write to it.
VOLUME ["/tmp"]
EXPOSE ${METRICS_PORT}
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 CMD ["/opt/acme_works/bin/worker", "healthcheck"]
ENTRYPOINT ["/opt/acme_works/bin/worker"]
CMD ["serve"]
