"""The JSON form: what it takes, and how it refuses."""

from __future__ import annotations

import json
import re
from importlib import resources
from itertools import pairwise
from pathlib import Path

import pytest

from remembrancer import clock
from remembrancer.conversations.form import json_schema, parse
from remembrancer.conversations.models import AuthoredBy, Role
from remembrancer.conversations.planning import begins_session, plan
from remembrancer.errors import InvalidInputError

AT = "2026-03-01T18:05:00+01:00"
PAGE = Path(__file__).parents[3] / "docs" / "reference" / "conversation-form.md"


def one(*messages, **fields):
    return json.dumps(
        {"messages": [{"at": AT, "text": "Hi", **each} for each in messages], **fields}
    )


def test_the_documented_example_is_read():
    (example,) = re.findall(r"```json\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    (found,) = parse(example)
    assert (found.source, found.external_id, found.space) == ("my-chat-app", "c-17", "home")
    assert [each.role for each in found.messages] == [
        Role.USER, Role.ASSISTANT, Role.OTHER, Role.USER,
    ]  # fmt: skip
    assert found.messages[2].text == "Look! [photo: a pot of noodles]"
    assert clock.write(found.messages[3].said_at) == "2026-03-01T23:00:00Z"


def test_every_field_is_documented():
    page = PAGE.read_text("utf-8")
    schema = json.loads(json_schema())["$defs"]
    fields = {*schema["ConversationForm"]["properties"], *schema["MessageForm"]["properties"]}
    assert {"owner", "caption", "session"} <= fields
    assert [name for name in fields if f"`{name}`" not in page] == []


def test_a_list_or_one():
    written = f"[{one({'role': 'user'}, title='a')}, {one({'role': 'user'})}]"
    assert [each.title for each in parse(written)] == ["a", ""]
    assert parse("[]") == []
    assert len(parse(b"\xef\xbb\xbf" + one({"role": "user"}).encode())) == 1


@pytest.mark.parametrize(
    ("owner", "me", "roles"),
    [
        ("Ines", None, "user other assistant user"),
        ("Ines", "Wei", "user other assistant user"),
        (None, "wei", "other user assistant user"),
        (None, None, "other other assistant user"),
    ],
)
def test_who_is_the_owner(owner, me, roles):
    written = one(
        {"speaker": "Ines"},
        {"speaker": "Wei"},
        {"role": "assistant"},
        {"role": "user"},
        owner=owner,
    )
    assert [each.role for each in parse(written, me=me)[0].messages] == roles.split()


def test_a_stated_user_who_is_not_the_owner_is_a_third_person():
    written = one({"role": "user", "speaker": "Wei"}, {"role": "user", "speaker": "INES"})
    assert [each.role for each in parse(written, me="Ines")[0].messages] == ["other", "user"]


@pytest.mark.parametrize(
    ("written", "field"),
    [
        ("{", "file"),
        (b"\xff{}", "file"),
        ("[" * 100_000, "file"),
        ('"hello"', "file"),
        ("{}", "messages"),
        (one(), "messages"),
        ("[{}]", "[0].messages"),
        (one({"role": "user"}, surprise=1), "surprise"),
        (one({"role": "user", "txt": "Hi"}), "messages[0].txt"),
        (one({"role": "user"}, {"role": "robot"}), "messages[1].role"),
        (one({"role": "user"}, {}), "messages[1].role"),
        (one({"role": "other"}), "messages[0].speaker"),
        (one({"role": "user", "at": "2026-03-01T18:05:00"}), "messages[0].at"),
        (one({"role": "user", "at": "yesterday"}), "messages[0].at"),
        (one({"role": "user", "at": 17}), "messages[0].at"),
        (one({"role": "user", "text": " "}), "messages[0].text"),
        (one({"role": "user", "text": "a\0b"}), "messages[0].text"),
        (one({"role": "user", "text": "x" * (1 << 20) + "y"}), "messages[0].text"),
        (one({"role": "user", "id": 1}, {"role": "user", "id": 1}), "messages[1].id"),
        (one({"role": "user", "parent": "later"}), "messages[0].parent"),
        (one({"role": "user", "speaker": "a\nb"}), "messages[0].speaker"),
        (one({"role": "user"}, title="t" * 201), "title"),
        (one({"role": "user"}, zone="Mars/Base"), "zone"),
        (f"[{one({'role': 'user'})}, {one({'role': 'user', 'at': 'x'})}]", "[1].messages[0].at"),
    ],
)
def test_W5_what_is_wrong_is_named_with_its_place(written, field):
    with pytest.raises(InvalidInputError) as caught:
        parse(written)
    assert caught.value.field == field
    assert str(caught.value)


def test_W5_the_limits_themselves_pass():
    text = "😀" * (1 << 18)
    assert parse(one({"role": "user", "text": text}, title="t" * 200))[0].messages[0].text == text


def test_a_date_is_midnight_in_the_zone():
    written = one({"role": "user", "at": "2026-03-01"})
    assert clock.write(parse(written, zone="Asia/Shanghai")[0].messages[0].said_at) == (
        "2026-02-28T16:00:00Z"
    )


def test_the_shipped_conversation_is_months_long():
    written = resources.files("remembrancer.examples").joinpath("conversation.json")
    (found,) = parse(written.read_bytes())
    messages = plan(found, AuthoredBy.PERSON).conversation.messages
    assert len(messages) >= 120
    assert messages[-1].said_at - messages[0].said_at > 150 * 86_400 * clock.SECOND
    starts = [begins_session(before, before.said_at, after) for before, after in pairwise(messages)]
    assert sum(starts) >= 10
    assert [each.said_at for each in messages] == sorted({each.said_at for each in messages})
    whole = " ".join(each.text for each in messages if each.role is Role.USER)
    assert "We've lived here since 29 January" in whole
    assert "Ab dem 1. Januar lebe ich vegan" in whole
    assert "我们说德语" in whole
