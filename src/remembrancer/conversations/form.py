"""The documented JSON form of a conversation (docs/reference/conversation-form.md). Pure.

Parsing checks everything and names the field and its place; nothing is stored here.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from remembrancer import clock
from remembrancer.conversations.models import Conversation, IncomingMessage, Role
from remembrancer.conversations.planning import NAME_CHARACTERS, check_incoming, check_links
from remembrancer.errors import InvalidInputError
from remembrancer.text.limits import check_name

SOURCE: Final = "file"
"""The source of a conversation that doesn't name one."""


def _as_text(value: object) -> object:
    """Numbers stand for their digits where an id or a label is wanted."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Label = Annotated[str, BeforeValidator(_as_text)]


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class MessageForm(_Form):
    """One message. It has a text or a caption, and a role or a speaker."""

    id: Label | None = Field(None, description="Its id in the source; others name it as parent.")
    role: Annotated[Role, Field(strict=False)] | None = Field(
        None, description="Who speaks. Left out: `user` for the owner, else `other`."
    )
    speaker: str | None = Field(None, description="The speaker's name.")
    text: str = Field("", description="What was said, at most 1 MiB.")
    caption: str | None = Field(None, description="What a picture sent with it shows.")
    at: str = Field(description="When: RFC 3339 with an offset, or a date (midnight in the zone).")
    parent: Label | None = Field(
        None,
        description="The id of the message it answers. Left out: the one before it in the list. "
        "Empty: none, it begins a branch of its own (an edited first message).",
    )
    session: Label | None = Field(
        None,
        description="A label; where it changes, a session begins. Left out: after four hours of "
        "silence.",
    )


class ConversationForm(_Form):
    """One conversation, all of it, oldest message first."""

    id: Label | None = Field(
        None, description="Its id in the source. Without one, its first message identifies it."
    )
    source: str = Field(SOURCE, description="What it was exported from.")
    title: str | None = None
    space: str | None = Field(None, description="The space (folder, project) it belongs to.")
    zone: str | None = Field(None, description="The IANA zone of plain dates.")
    owner: str | None = Field(None, description="The name of the speaker whose memory this is.")
    messages: list[MessageForm] = Field(min_length=1)


_MANY: Final = TypeAdapter(list[ConversationForm])
_ONE: Final = TypeAdapter(ConversationForm)


def parse(written: str | bytes, *, me: str | None = None, zone: str = "UTC") -> list[Conversation]:
    """The conversations in a JSON text: a list of them, or one.

    `me` is the owner's name where a conversation names no `owner`; `zone` that of plain dates where
    it names no `zone`. Raises `InvalidInputError` naming the first wrong field and its place, such
    as `[1].messages[3].at`.
    """
    loaded = _load(written)
    try:
        if isinstance(loaded, list):
            forms = _MANY.validate_python(loaded)
            places = [f"[{index}]." for index in range(len(forms))]
        else:
            forms, places = [_ONE.validate_python(loaded)], [""]
    except ValidationError as error:
        raise _refusal(error) from None
    return [_conversation(each, place, me, zone) for each, place in zip(forms, places, strict=True)]


def json_schema() -> str:
    """The JSON Schema of the form, as JSON."""
    adapter: TypeAdapter[Any] = TypeAdapter(ConversationForm | list[ConversationForm])
    return json.dumps(adapter.json_schema(), indent=2, ensure_ascii=False)


def _load(written: str | bytes) -> object:
    try:
        text = written if isinstance(written, str) else written.decode("utf-8-sig")
        loaded: object = json.loads(text)
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"The file isn't UTF-8 (at byte {error.start}).",
            field="file",
            value=error.start,
            hint="Save it as UTF-8.",
        ) from None
    except json.JSONDecodeError as error:
        raise InvalidInputError(
            f"The file isn't JSON: {error.msg} at line {error.lineno}, column {error.colno}.",
            field="file",
            value=f"{error.lineno}:{error.colno}",
        ) from None
    except ValueError:
        raise InvalidInputError(
            "The file holds a number with too many digits.", field="file", limit="4300 digits"
        ) from None
    except RecursionError:
        raise InvalidInputError("The file is nested too deeply.", field="file") from None
    return loaded


def _refusal(error: ValidationError) -> InvalidInputError:
    """The first thing that is wrong, in one sentence, and how many more there are."""
    found = error.errors(include_url=False, include_context=False)
    first = found[0]
    field = _place(first["loc"])
    more = f" ({len(found) - 1} more)" if len(found) > 1 else ""
    said = {
        "missing": "is missing",
        "extra_forbidden": "is no field of the form",
        "too_short": "is empty",
        "model_type": "isn't an object",
    }.get(first["type"], f"is wrong: {first['msg'][:1].lower()}{first['msg'][1:]}")
    value = first["input"]
    return InvalidInputError(
        f"{field or 'The file'} {said}{more}.",
        field=field or "file",
        value=value if isinstance(value, int | float | bool) else None,
        hint="The form is described in docs/reference/conversation-form.md.",
    )


def _place(parts: Sequence[int | str]) -> str:
    written = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)
    return written.removeprefix(".")


def _conversation(form: ConversationForm, place: str, me: str | None, zone: str) -> Conversation:
    where = form.zone or zone
    clock.zone(where)
    for field in ("source", "id", "title", "space", "owner"):
        value = getattr(form, field)
        if value or (field == "source"):
            check_name(value, f"{place}{field}", NAME_CHARACTERS)
    owner = _name(form.owner or me or "")
    messages = tuple(
        _message(each, f"{place}messages[{index}]", owner, where)
        for index, each in enumerate(form.messages)
    )
    check_links(messages, place)
    return Conversation(
        source=_name(form.source),
        external_id=_name(form.id or ""),
        title=_name(form.title or ""),
        space=_name(form.space or ""),
        messages=messages,
    )


def _message(form: MessageForm, place: str, owner: str, zone: str) -> IncomingMessage:
    speaker = _name(form.speaker or "")
    message = IncomingMessage(
        role=_role(form, place, speaker, owner),
        text=_text(form),
        said_at=clock.parse(form.at, zone, field=f"{place}.at"),
        speaker=speaker,
        id=_name(form.id or ""),
        parent=form.parent,
        session=form.session,
    )
    check_incoming(message, place)
    return message


def _role(form: MessageForm, place: str, speaker: str, owner: str) -> Role:
    """The stated role; without one, the owner's words are `user`, all others' `other`."""
    if form.role is not None:
        stated = form.role
        foreign = owner and speaker and speaker.casefold() != owner.casefold()
        return Role.OTHER if stated is Role.USER and foreign else stated
    if not speaker:
        raise InvalidInputError(
            f"{place}.role is missing: a message says its role, its speaker, or both.",
            field=f"{place}.role",
            limit="user, assistant, other",
        )
    return Role.USER if owner and speaker.casefold() == owner.casefold() else Role.OTHER


def _text(form: MessageForm) -> str:
    if not form.caption:
        return form.text
    photo = f"[photo: {form.caption.strip()}]"
    return f"{form.text.rstrip()} {photo}" if form.text.strip() else photo


def _name(value: str) -> str:
    """A name as it is stored and compared; checked elsewhere."""
    return unicodedata.normalize("NFC", value.strip())
