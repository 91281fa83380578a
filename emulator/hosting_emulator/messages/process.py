"""Messages about the running process: its URLs, its health, and the requests that it refuses."""

from __future__ import annotations

from typing import Annotated, Literal

from hosting_emulator.messages.declaration import ControlMessage, doc


class Info(ControlMessage, frozen=True, kw_only=True):
    """The running process."""

    version: Annotated[str, doc("The version of the emulator.")]
    build: Annotated[
        str,
        doc(
            "An identifier that distinguishes builds of the same version; `editable` for an "
            "editable install."
        ),
    ]
    pid: Annotated[int, doc("The id of the process.")]
    instance: Annotated[str, doc("A random id that is different each time the emulator starts.")]
    base_url: Annotated[str, doc("The base URL of the default world, without `/v1`.")]
    dev_base_url: Annotated[
        str,
        doc(
            "The base URL of the development server that the contract names; the same as "
            "`base_url`."
        ),
    ]
    control_url: Annotated[str, doc("The URL of the control API.")]
    docs_url: Annotated[str, doc("The URL of the documentation.")]
    openapi_url: Annotated[str, doc("The URL of the public API's OpenAPI document.")]
    data_dir: Annotated[
        str | None, doc("The directory in which worlds are stored; null if they are not stored.")
    ]
    durability: Annotated[
        str,
        doc(
            "How durable stored changes are: `process` if they survive a crash of the process, "
            "or `disk` if they also survive a crash of the machine."
        ),
    ]
    tls_port: Annotated[int | None, doc("The TLS port of the dev origins; null if there is none.")]
    ca_file: Annotated[
        str | None,
        doc(
            "The file that contains the certificate authority of the dev origins; null if there is "
            "no TLS port."
        ),
    ]
    started_at: Annotated[str, doc("The real time at which the process started.")]


class PageSecret(ControlMessage, frozen=True, kw_only=True):
    """The header that identifies requests from the emulator's own pages."""

    header: Annotated[str, doc("The name of the header.")]
    value: Annotated[str, doc("The value of the header.")]


class Health(ControlMessage, frozen=True, kw_only=True):
    """The health of a running emulator."""

    status: Annotated[Literal["ok"], doc("`ok` if the emulator is running.")]
    version: Annotated[str, doc("The version of the emulator.")]
    storage: Annotated[
        str | None,
        doc(
            "The most recent problem caused by files in the data directory being deleted or "
            "replaced while the emulator was running; null if there was none."
        ),
    ]


class ApiProblem(ControlMessage, frozen=True, kw_only=True):
    """Why the control API refused a request (RFC 9457)."""

    type: Annotated[str, doc("A URI that identifies the kind of problem.")]
    title: Annotated[str, doc("A short name for the kind of problem.")]
    status: Annotated[int, doc("The HTTP status.")]
    detail: Annotated[str, doc("What is wrong, and what to do.")]
    documentation: Annotated[str, doc("The path to the documentation of the control API.")]


class OAuthError(ControlMessage, frozen=True, kw_only=True):
    """Why the identity provider refused a request (RFC 6749, section 5.2)."""

    error: Annotated[str, doc("The error code.")]
    error_description: Annotated[str, doc("What is wrong.")]
