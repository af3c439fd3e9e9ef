# The console as an image: it brings the schemas up to date before workers of a new version start, and serves nothing.
#checkov:skip=CKV_DOCKER_7:PYTHON_IMAGE names a version, or a digest where a build gives one
ARG PYTHON_IMAGE=docker.io/library/python:3.13-slim-trixie

FROM ${PYTHON_IMAGE} AS build
ENV UV_COMPILE_BYTECODE=1 \
    UV_LINK_MODE=copy \
    UV_NO_CACHE=1 \
    UV_PROJECT_ENVIRONMENT=/opt/headrace \
    UV_PYTHON_DOWNLOADS=never \
    UV_SYSTEM_CERTS=true
RUN python3 -m venv /opt/uv && /opt/uv/bin/pip install --no-cache-dir --quiet uv==0.13.9
WORKDIR /source
COPY . .
# The lock in the repository names no index: it is completed with the one that this build is set up with.
RUN PYTHONPATH=tools/src python3 -m headrace.tools.lock hydrate --uv /opt/uv/bin/uv && \
    /opt/uv/bin/uv sync --frozen --no-default-groups --no-editable --python python3 \
        --package headrace-console --package headrace-infra --extra errors --extra tracing

FROM ${PYTHON_IMAGE}
COPY --from=build /opt/headrace /opt/headrace
# Certificates and time zones are looked up in these: an image without them must not be built.
RUN test -s /etc/ssl/certs/ca-certificates.crt && test -s /usr/share/zoneinfo/UTC
ENV PATH=/opt/headrace/bin:/usr/local/bin:/usr/bin:/bin \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    PYTHONUTF8=1
USER 65532:65532
WORKDIR /
STOPSIGNAL SIGTERM
# A command that ends by itself is well when it exits with 0.
HEALTHCHECK NONE
ENTRYPOINT ["/opt/headrace/bin/headrace"]
