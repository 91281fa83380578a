"""The credentials of a replay, which creates one for each sender because a recording contains none."""

from __future__ import annotations

from collections.abc import Callable

from hosting_emulator.sdk import ControlRefused, HostingEmulator
from hosting_emulator_lab.replay.generated_values import GeneratedValues
from hosting_emulator_lab.replay.recording import (
    REDACTED,
    RecordedExchange,
    RecordedResponse,
    Sender,
)

_INVALID_TOKEN = "not-a-token"


class SenderUnavailable(Exception):
    """The world cannot create credentials for the sender of a request. The message says why."""


class ReplayCredentials:
    """Chooses the bearer token of each request.

    `from_emulator` means that an emulator wrote the recording. If `user` is not None, this user
    sends all requests. `note` receives sentences about what could not be replayed as recorded.
    """

    def __init__(
        self,
        emulator: HostingEmulator,
        values: GeneratedValues,
        *,
        from_emulator: bool,
        user: str | None,
        note: Callable[[str], None],
    ) -> None:
        self._emulator = emulator
        self._values = values
        self._from_emulator = from_emulator
        self._user = user
        self._note = note
        #: The token of each sender, and the value of each API key by its recorded id.
        self._tokens: dict[Sender | str, str] = {}

    def token_for(self, exchange: RecordedExchange) -> str | None:
        """Return the token to send with a request, or None to send none.

        Raises ControlError, or SenderUnavailable if the recorded sender cannot send requests to this
        world.

        If an emulator's recording contains a request without an Authorization header, the replay
        sends no such header either. In other recordings, the header may be missing because a
        browser did not save it.
        """
        if self._from_emulator and exchange.authorization is None:
            return None
        if self._user is not None:
            return self._emulator.token(self._user)
        if exchange.sender is not None:
            return self._token_of(exchange.sender)
        if self._from_emulator:
            # The recorded credentials were invalid, so the new ones must be invalid too.
            return _INVALID_TOKEN
        return self._token_of_unnamed_sender(exchange)

    def _token_of_unnamed_sender(self, exchange: RecordedExchange) -> str:
        recorded_token = (exchange.authorization or "").partition(" ")[2]
        if recorded_token in self._values:  # the value of an API key that the replay created
            return self._values[recorded_token]
        self._note(
            "the recording does not name the user of each request: such requests are sent as the "
            "owner, or as --user"
        )
        return self._emulator.token()

    def _token_of(self, sender: Sender) -> str:
        tokens_key = sender.api_key or sender
        if tokens_key not in self._tokens:
            try:
                self._tokens[tokens_key] = self._create_token(sender)
            except ControlRefused as refused:
                raise SenderUnavailable(
                    f"its sender {sender.alias or sender.user} cannot send it here: {refused}"
                ) from refused
        return self._tokens[tokens_key]

    def _create_token(self, sender: Sender) -> str:
        user = sender.alias or self._values.new_value(sender.user)
        organization = sender.organization
        if organization:
            organization = self._values.new_value(organization)
        if sender.api_key is None:
            return self._emulator.token(
                user, organization=organization, interactive=sender.interactive
            )
        key = self._emulator.api_key(
            user, organization=organization, permissions=sender.permissions
        )
        self._note(
            f"the API key {sender.api_key} is older than the recording: a similar key was created"
        )
        return key

    def learn_key(self, recorded: RecordedResponse, replayed: RecordedResponse) -> None:
        """Remember the value of an API key that a replayed request created."""
        value = replayed.members.get("value")
        key = recorded.members.get("key")
        if not isinstance(value, str) or not isinstance(key, dict) or "id" not in key:
            return
        self._tokens[key["id"]] = value
        recorded_value = recorded.members.get("value")
        # Remember the recorded value too, because recordings of other tools may contain it.
        if isinstance(recorded_value, str) and recorded_value != REDACTED:
            self._values.pair(recorded_value, value)
