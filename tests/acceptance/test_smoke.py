"""The whole path once, on both stores."""

from __future__ import annotations

from remembrancer import SyncPersonalMemory


def test_what_is_added_is_listed_and_recalled(ada: SyncPersonalMemory) -> None:
    made = ada.add("Her sister Mina lives in Lyon.")
    assert [each.content for each in ada.list()] == ["Her sister Mina lives in Lyon."]
    recalled = ada.recall("Where does her sister Mina live?")
    assert [each.id for each in recalled.entries] == [made.id]
    assert ada.verify().damage == ()
