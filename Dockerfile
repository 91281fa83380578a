# The emulator as a container image. On top of the base image there are two layers: the dependencies
# pinned in .ci/locks, and our own code. The first layer changes only when the pins change, so an update
# usually builds and pulls only the second.
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

# Install our code into a separate folder, so that it can be copied over the dependencies as a layer of
# its own.
RUN pip wheel --no-deps --wheel-dir /dist . \
    && pip --python /opt/hosting-emulator/bin/python install --no-deps --prefix /ours /dist/*.whl

FROM python:3.13-slim

LABEL org.opencontainers.image.title="hosting-emulator" \
      org.opencontainers.image.description="A local emulator and test harness for the Project Hosting Control API" \
      org.opencontainers.image.licenses="MIT AND Apache-2.0" \
      org.opencontainers.image.version="0.1.0"

# Set the options of `start` through variables, because a CI service container cannot pass arguments.
# Arguments and other variables override them. The health check, and any other command that runs in the
# container, finds the emulator through its ready file, whichever port it uses. The ready file is in
# /dev/shm, which is writable even if the container's file system is read-only.
ENV PATH=/opt/hosting-emulator/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HOSTING_EMULATOR_HOST=0.0.0.0 \
    HOSTING_EMULATOR_DATA_DIR=/data \
    HOSTING_EMULATOR_READY_FILE=/dev/shm/hosting-emulator.json

# The uid is fixed, so that you can make this user the owner of a mounted folder. Create /data before
# VOLUME, so that the user owns a new named volume. Any other user cannot write to /data, and needs
# HOSTING_EMULATOR_EPHEMERAL=1.
RUN useradd --uid 10001 --user-group --no-log-init --create-home emulator \
    && install --directory --owner=emulator --group=emulator --mode=0755 /data

# Copy the virtual environment to the same path, because its scripts contain the full path of their
# interpreter.
COPY --from=dependencies /opt/hosting-emulator /opt/hosting-emulator
COPY --from=build /ours /opt/hosting-emulator

USER 10001:10001
WORKDIR /data
VOLUME ["/data"]
EXPOSE 4620

# Stop with SIGINT instead of SIGTERM. The kernel ignores a signal to a container's first process unless
# the process has installed a handler, and Python handles SIGINT as soon as it starts. With SIGTERM, a
# container that is stopped during startup would keep running until it is killed.
STOPSIGNAL SIGINT

HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --retries=3 \
    CMD ["hosting-emulator", "wait", "--timeout", "2s"]

ENTRYPOINT ["hosting-emulator"]
CMD ["start"]
