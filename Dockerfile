# The emulator as an image, in two layers of ours: its dependencies as .ci/locks pins them, which are
# made and pulled anew only when that changes, and on top of them the wheel of its own code.
#
#   docker build -t hosting-emulator .
#   docker run --rm -p 127.0.0.1:4620:4620 -v hosting-emulator:/data hosting-emulator

FROM python:3.13-slim AS dependencies

ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1

COPY .ci/locks/image.txt /src/image.txt
RUN python -m venv --without-pip /opt/hosting-emulator \
    && pip --python /opt/hosting-emulator/bin/python install --no-deps --require-hashes -r /src/image.txt \
    && pip --python /opt/hosting-emulator/bin/python check

FROM dependencies AS build

WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY .ci/build_hook.py ./.ci/build_hook.py
COPY emulator ./emulator
COPY scenarios ./scenarios
COPY fixtures ./fixtures
COPY cli ./cli
COPY docs ./docs

# What is installed lies in a folder of its own, so that it can be laid over the dependencies.
RUN pip wheel --no-deps --wheel-dir /dist . \
    && pip --python /opt/hosting-emulator/bin/python install --no-deps --prefix /ours /dist/*.whl

FROM python:3.13-slim

LABEL org.opencontainers.image.title="hosting-emulator" \
      org.opencontainers.image.description="A local emulator and test harness for the Project Hosting Control API" \
      org.opencontainers.image.licenses="MIT AND Apache-2.0" \
      org.opencontainers.image.version="0.1.0"

# What `start` does here are variables, which an argument or another variable overrides: a service
# container of a CI has no arguments. The health check, and every command that is run in the container, finds the emulator by the file
# it writes once it is ready, whatever port it was given and how. That lies in memory: the one place
# that can be written to even where all else is read-only.
ENV PATH=/opt/hosting-emulator/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HOSTING_EMULATOR_HOST=0.0.0.0 \
    HOSTING_EMULATOR_DATA_DIR=/data \
    HOSTING_EMULATOR_READY_FILE=/dev/shm/hosting-emulator.json

# A fixed uid, so that a mounted folder can be given to it; /data is made before VOLUME, so that
# a named volume starts out owned by it. Any other user may work there, and keep nothing.
RUN useradd --uid 10001 --user-group --no-log-init --create-home emulator \
    && install --directory --owner=emulator --group=emulator --mode=0755 /data

# The environment keeps its path: its scripts name their interpreter in full.
COPY --from=dependencies /opt/hosting-emulator /opt/hosting-emulator
COPY --from=build /ours /opt/hosting-emulator

USER 10001:10001
WORKDIR /data
VOLUME ["/data"]
EXPOSE 4620

# The first process of a container is deaf to a signal that it handles not yet. Ctrl-C's, Python handles
# from its first moment; so a container that is stopped while it starts does not wait to be killed.
STOPSIGNAL SIGINT

HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --retries=3 \
    CMD ["hosting-emulator", "wait", "--timeout", "2s"]

ENTRYPOINT ["hosting-emulator"]
CMD ["start"]
