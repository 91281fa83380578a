"""Endpoints about the process: its health, its addresses, and the page secret."""

from __future__ import annotations

import os

from hosting_emulator.build_id import BUILD_ID
from hosting_emulator.http.endpoint import Context, ControlRefusal
from hosting_emulator.http.guard import PAGE_HEADER
from hosting_emulator.messages import (
    Health,
    Info,
    PageSecret,
)


def health(context: Context) -> Health:
    """Report that the emulator is running, with its version and any problem with its data directory."""
    facts = context.facts
    return Health(status="ok", version=facts.version, storage=facts.storage_problem())


def info(context: Context) -> Info:
    """Describe the running process and its addresses."""
    base_url = context.base_url
    facts = context.facts
    return Info(
        version=facts.version,
        build=BUILD_ID,
        pid=os.getpid(),
        instance=facts.instance,
        base_url=base_url,
        dev_base_url=base_url,
        control_url=f"{base_url}/_emulator",
        docs_url=f"{base_url}/_emulator/docs",
        openapi_url=f"{base_url}/_emulator/contract/openapi.json",
        data_dir=facts.data_dir,
        durability=facts.durability,
        tls_port=context.site.tls_port,
        ca_file=context.site.ca_file,
        started_at=facts.started_at,
    )


def stop(context: Context) -> None:
    """Stop the emulator in the same way as Ctrl-C: all worlds are stored, and the process ends.

    The emulator sends this response and ends moments later. The status is 409 if the emulator is
    run by another program, such as a test run or `hosting-emulator exec`, because it ends together
    with that program.
    """
    request_stop = context.facts.request_stop
    if request_stop is None:
        detail = (
            "only the program that runs this emulator can stop it, such as a test run or "
            "`hosting-emulator exec`; end that program"
        )
        raise ControlRefusal(409, "Cannot stop", detail)
    request_stop()


def page_secret(context: Context) -> PageSecret:
    """Return the header that the emulator's own pages add to their requests to `/v1`.

    The conduct rules skip these requests, because they are sent by the user, not by a client. The
    header's value is random, and changes each time the emulator starts.
    """
    return PageSecret(header=PAGE_HEADER, value=context.site.page_secret)
