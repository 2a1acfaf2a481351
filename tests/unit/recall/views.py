"""Views made by hand, for the tests of this folder."""

from __future__ import annotations

from uuid import UUID

from remembrancer.clock import MAX, MIN
from remembrancer.embeddings.base import Kind
from remembrancer.embeddings.trigram import TrigramEmbedder
from remembrancer.embeddings.vectors import to_half
from remembrancer.index.builder import ViewBuilder
from remembrancer.index.changes import Changes, MessageRow, TextRow, VersionRow
from remembrancer.index.view import View
from remembrancer.text.analyse import pack_terms, term_counts

EMBEDDER = TrigramEmbedder()
CHAT = UUID(int=7_000)


class Sketch:
    """Texts, versions and messages, numbered by the test; ids are UUIDs of those numbers."""

    def __init__(self) -> None:
        self.texts: dict[int, str] = {}
        self.versions: list[VersionRow] = []
        self.messages: list[tuple[MessageRow, str]] = []
        self.without_vector: set[int] = set()

    def memory(self, number: int, content: str, *, text: int | None = None, **details) -> Sketch:
        """A version, memory and text of that number; `text` names one that is there."""
        if text is None:
            self.texts[number] = content
        row = VersionRow(
            version_id=UUID(int=1_000 + number),
            memory_id=UUID(int=details.pop("memory", number)),
            text_id=UUID(int=5_000 + (number if text is None else text)),
            **{
                "type": "context",
                "path": "",
                "space_id": None,
                "trust": "confirmed",
                "valid_from": MIN,
                "valid_to": MAX,
                "recorded_from": 10,
                "recorded_to": MAX,
                **details,
            },
        )
        self.versions.append(row)
        return self

    def message(self, number: int, content: str, **details) -> Sketch:
        row = MessageRow(
            message_id=UUID(int=number),
            terms=pack_terms(term_counts(content)),
            **{
                "chat_id": CHAT,
                "session": 0,
                "position": number,
                "space_id": None,
                "role": "user",
                "speaker": "",
                "said_at": 100,
                "live": True,
                **details,
            },
        )
        self.messages.append((row, content))
        return self

    def view(self) -> View:
        builder = ViewBuilder()
        rows = [
            TextRow(UUID(int=5_000 + number), pack_terms(term_counts(content)))
            for number, content in self.texts.items()
        ]
        builder.apply(Changes(rows, self.versions, [row for row, _ in self.messages]))
        contents = {UUID(int=5_000 + number): text for number, text in self.texts.items()}
        contents |= {row.message_id: text for row, text in self.messages}
        ids = [each for each in contents if each.int not in self.without_vector]
        vectors = EMBEDDER.embed([contents[each] for each in ids], Kind.PASSAGE)
        builder.put_vectors(ids, [to_half(row[None, :]) for row in vectors])
        return builder.freeze(1)
