"""One person with a store and recall, for the tests of this folder.

Rows are written straight into the tables, in any state a test wants: how they come there by rule is
tested where those rules are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from sqlalchemy import insert, update

from remembrancer import clock
from remembrancer.clock import MAX, MIN
from remembrancer.conversations import source as conversation_source
from remembrancer.conversations.tables import chats, messages, withheld
from remembrancer.db.database import Database, open_backend
from remembrancer.db.units import Unit
from remembrancer.embeddings.base import Kind, SpaceSpec
from remembrancer.embeddings.serving import Serving
from remembrancer.embeddings.spaces import space_id
from remembrancer.embeddings.trigram import TrigramEmbedder
from remembrancer.embeddings.vectors import to_half
from remembrancer.embeddings.worker import EmbeddingWorker
from remembrancer.events.kinds import Kind as Happened
from remembrancer.events.kinds import Payload
from remembrancer.events.log import Stamp, journal
from remembrancer.ids import new_id
from remembrancer.index.indexes import PersonalIndexes
from remembrancer.index.tables import vectors
from remembrancer.memory import source as memory_source
from remembrancer.memory.tables import evidence, memories, paths, texts, versions
from remembrancer.recall.models import Recall, Request
from remembrancer.recall.service import RecallService
from remembrancer.scope import Actor, ActorKind, Scope
from remembrancer.text.analyse import pack_terms, term_counts
from remembrancer.text.digest import commitment
from remembrancer.text.normalise import fingerprint
from remembrancer.text.spans import blank
from tests.support.people import newcomer

ANNA = Actor(ActorKind.PERSON, "anna@example.org")
NOON = clock.parse("2024-05-08T12:00:00Z")
MINUTE = 60 * clock.SECOND


@dataclass(frozen=True)
class Stored:
    """A memory's ids."""

    id: UUID
    version: UUID
    text: UUID


class Person:
    """A store on SQLite with the trigram embedder, whose floor is the stated default."""

    def __init__(self, folder: Path) -> None:
        self.db = Database(open_backend(folder))
        self.embedder = TrigramEmbedder()
        self.worker = EmbeddingWorker(self.embedder)
        self.space_id = space_id(self.db, self.embedder.spec)
        self.indexes = PersonalIndexes(
            [memory_source.SOURCE, conversation_source.SOURCE],
            budget_bytes=64 * 2**20,
        )
        self.serving: Serving | None = Serving(self.worker, self.space_id, self.embedder.spec)
        self.recalling = RecallService(self.db, self.indexes, self._serves)
        self.scope: Scope = newcomer(self.db)

    async def _serves(self) -> Serving | None:
        return self.serving

    @property
    def spec(self) -> SpaceSpec:
        return self.embedder.spec

    def add(
        self,
        content: str,
        *,
        type: str = "context",
        trust: str = "confirmed",
        path: str = "",
        space: UUID | None = None,
        valid: tuple[int, int] = (MIN, MAX),
        pin: int | None = None,
        of: Stored | None = None,
        rests_on: UUID | None = None,
        vector: bool = True,
    ) -> Stored:
        """A memory, or with `of` a further version of one, recorded from now on."""

        def work(unit: Unit) -> Stored:
            with journal(unit) as held:
                stored = Stored(of.id if of else new_id(), new_id(), new_id())
                stamp = held.append(Happened.MEMORY_ADDED, ANNA, Payload(), subject=stored.id)
                moved = held.touch_index()
                if of is None:
                    self._memory(unit, stored.id, stamp, pin)
                self._text(unit, stored.text, content, moved, vector=vector)
                unit.insert(
                    insert(versions),
                    id=stored.version,
                    memory_id=stored.id,
                    text_id=stored.text,
                    type=type,
                    path_id=self._path(unit, path),
                    space_id=space,
                    trust=trust,
                    valid_from=valid[0],
                    valid_to=valid[1],
                    recorded_from=stamp.recorded_at,
                    recorded_to=MAX,
                    opened_seq=stamp.seq,
                    changed_at_seq=moved,
                )
                if rests_on is not None:
                    self._evidence(unit, stored.id, rests_on, stamp)
                return stored

        return self.db.write_now(self.scope, work)

    def change(self, stored: Stored, **columns: object) -> int:
        """Set columns of a version; when that was recorded."""

        def work(unit: Unit) -> int:
            with journal(unit) as held:
                stamp = held.append(Happened.MEMORY_CORRECTED, ANNA, Payload(), subject=stored.id)
                values = {**columns, "changed_at_seq": held.touch_index()}
                if "recorded_to" in columns:
                    values["recorded_to"] = stamp.recorded_at
                unit.run(update(versions).where(versions.c.id == stored.version).values(**values))
                return stamp.recorded_at

        return self.db.write_now(self.scope, work)

    def close_version(self, stored: Stored) -> int:
        """Believe it no longer; since when."""
        return self.change(stored, recorded_to=0)

    def forget(self, stored: Stored) -> None:
        """Clear its words as forgetting does."""

        def work(unit: Unit) -> None:
            with journal(unit) as held:
                stamp = held.append(Happened.MEMORY_FORGOTTEN, ANNA, Payload(), subject=stored.id)
                moved = held.touch_index()
                cleared = {"text": None, "fingerprint": None, "salt": None, "terms": b""}
                unit.run(
                    update(texts)
                    .where(texts.c.id == stored.text)
                    .values(**cleared, changed_at_seq=moved)
                )
                unit.run(
                    update(memories)
                    .where(memories.c.id == stored.id)
                    .values(forgotten_seq=stamp.seq)
                )

        self.db.write_now(self.scope, work)

    def say(
        self,
        lines: Sequence[str],
        *,
        role: str = "user",
        speaker: str = "",
        space: UUID | None = None,
        live: bool = True,
        hidden: tuple[int, int] | None = None,
    ) -> list[UUID]:
        """A chat of its own, its messages a minute apart."""

        def work(unit: Unit) -> list[UUID]:
            with journal(unit) as held:
                moved = held.touch_index()
                chat_id, ids = new_id(), [new_id() for _ in lines]
                self._chat(unit, chat_id, space)
                for place, (id_, line) in enumerate(zip(ids, lines, strict=True)):
                    visible = blank(line, [hidden] if hidden else [])
                    unit.insert(
                        insert(messages),
                        id=id_,
                        chat_id=chat_id,
                        position=place,
                        session=0,
                        digest=id_.bytes,
                        role=role,
                        speaker=speaker,
                        authored_by="person",
                        said_at=NOON + place * MINUTE,
                        text=line,
                        terms=pack_terms(term_counts(visible)),
                        live=int(live),
                        changed_at_seq=moved,
                    )
                    self._vector(unit, id_, visible, moved)
                    if hidden:
                        self._withhold(unit, id_, hidden)
                return ids

        return self.db.write_now(self.scope, work)

    def recall(self, query: str | Sequence[str], **details: object) -> Recall:
        timeout = details.pop("timeout", 30.0)
        space = details.pop("space", None)
        scope = self.scope if space is None else self.scope.within(space)
        return asyncio.run(self.recalling.recall(scope, Request(query, **details), timeout=timeout))

    def close(self) -> None:
        self.worker.close()
        self.db.close()

    def _text(self, unit: Unit, id_: UUID, content: str, moved: int, *, vector: bool) -> None:
        unit.insert(
            insert(texts),
            id=id_,
            text=content,
            fingerprint=fingerprint(content),
            salt=b"salt",
            commitment=commitment(b"salt", content),
            terms=pack_terms(term_counts(content)),
            changed_at_seq=moved,
        )
        if vector:
            self._vector(unit, id_, content, moved)

    def _vector(self, unit: Unit, id_: UUID, content: str, moved: int) -> None:
        unit.insert(
            insert(vectors),
            embedding_space=self.space_id,
            document_id=id_,
            made_from=fingerprint(content),
            vector=to_half(self.embedder.embed([content], Kind.PASSAGE)),
            changed_at_seq=moved,
        )

    def _memory(self, unit: Unit, id_: UUID, stamp: Stamp, pin: int | None) -> None:
        unit.insert(
            insert(memories),
            id=id_,
            revision=1,
            pin_rank=pin,
            created_by="person",
            created_at=stamp.recorded_at,
            changed_at=stamp.recorded_at,
            event_seq=stamp.seq,
        )

    def _path(self, unit: Unit, path: str) -> UUID | None:
        if not path:
            return None
        path_id = new_id()
        unit.insert(insert(paths), id=path_id, text=path)
        return path_id

    def _evidence(self, unit: Unit, memory: UUID, message: UUID, stamp: Stamp) -> None:
        unit.insert(
            insert(evidence),
            id=new_id(),
            memory_id=memory,
            message_id=message,
            event_seq=stamp.seq,
        )

    def _chat(self, unit: Unit, chat_id: UUID, space: UUID | None) -> None:
        unit.insert(
            insert(chats),
            id=chat_id,
            source="test",
            external_id=str(chat_id),
            space_id=space,
            title="",
            created_at=NOON,
        )

    def _withhold(self, unit: Unit, message: UUID, span: tuple[int, int]) -> None:
        unit.insert(
            insert(withheld),
            message_id=message,
            span_from=span[0],
            span_to=span[1],
            tombstone_id=new_id(),
        )
