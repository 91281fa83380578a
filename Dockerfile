# The emulator as an image: a wheel is built and installed into a virtual environment, and only
# that environment reaches the second stage.
#
#   docker build -t hosting-emulator .
#   docker run --rm -p 127.0.0.1:4620:4620 -v hosting-emulator:/data hosting-emulator

FROM python:3.13-slim AS build

ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1

WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY emulator ./emulator
COPY scenarios ./scenarios
COPY fixtures ./fixtures
COPY cli ./cli

RUN pip wheel --no-cache-dir --no-deps --wheel-dir /dist . \
    && python -m venv --without-pip /opt/hosting-emulator \
    && pip --python /opt/hosting-emulator/bin/python install --no-cache-dir /dist/*.whl

FROM python:3.13-slim

LABEL org.opencontainers.image.title="hosting-emulator" \
      org.opencontainers.image.description="A local emulator and test harness for the Project Hosting Control API" \
      org.opencontainers.image.licenses="MIT AND Apache-2.0" \
      org.opencontainers.image.version="0.1.0"

ENV PATH=/opt/hosting-emulator/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1

# A fixed uid, so that a mounted folder can be given to it; /data is made before VOLUME, so that
# a named volume starts out owned by it.
RUN useradd --uid 10001 --user-group --no-log-init --create-home emulator \
    && install --directory --owner=emulator --group=emulator --mode=0750 /data

# The environment keeps its path: its scripts name their interpreter in full.
COPY --from=build /opt/hosting-emulator /opt/hosting-emulator

USER 10001:10001
WORKDIR /data
VOLUME ["/data"]
EXPOSE 4620

HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --retries=3 \
    CMD ["hosting-emulator", "wait", "--timeout", "2s"]

ENTRYPOINT ["hosting-emulator"]
CMD ["start", "--host", "0.0.0.0", "--data-dir", "/data"]
