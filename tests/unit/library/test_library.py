"""The library as a developer meets it: its names, both faces, and the façade of `add`, `search`."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import remembrancer
from remembrancer import (
    PersonalMemory,
    Remembrancer,
    SyncPersonalMemory,
    SyncRemembrancer,
    clock,
    errors,
)
from remembrancer.embeddings.trigram import TrigramEmbedder
from remembrancer.errors import IdempotencyError, InvalidInputError, NotFoundError
from remembrancer.recall.models import Recall, Request
from remembrancer.scope import Actor, ActorKind

PUBLIC = {
    "PersonalMemory": (
        "account actor add apply approve archive as_agent chats clear_all confirm correct decline "
        "delete_chat delete_import delete_message dispute events forget get history "
        "import_conversations in_space list machine_writes messages metas move pin "
        "proposals recall reindex reject retract set_machine_writes spaces tell "
        "tombstones undo verify"
    ),
    "Remembrancer": "add as_agent close engine memory_of migrate person remove_person search",
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SyncRemembrancer]:
    with SyncRemembrancer(tmp_path, embedder=TrigramEmbedder()) as handle:
        yield handle


def public(thing: object) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")}


def test_the_package_s_names_are_pinned() -> None:
    assert remembrancer.__all__ == [
        "PersonalMemory",
        "Remembrancer",
        "Scope",
        "SyncPersonalMemory",
        "SyncRemembrancer",
        "errors",
    ]
    for name in remembrancer.__all__:
        assert getattr(remembrancer, name) is not None
    with pytest.raises(AttributeError):
        remembrancer.Nothing  # noqa: B018


def test_the_faces_names_are_pinned(tmp_path: Path) -> None:
    async def names() -> tuple[set[str], set[str]]:
        async with Remembrancer(tmp_path, embedder=TrigramEmbedder()) as store:
            return public(store), public(await store.person("ada"))

    of_store, of_person = asyncio.run(names())
    assert of_store == set(PUBLIC["Remembrancer"].split())
    assert of_person == set(PUBLIC["PersonalMemory"].split())


@pytest.mark.parametrize(
    ("whole", "plain"), [(PersonalMemory, SyncPersonalMemory), (Remembrancer, SyncRemembrancer)]
)
def test_the_synchronous_face_has_all_of_the_asynchronous_one(whole: type, plain: type) -> None:
    for name, method in inspect.getmembers(whole, inspect.isfunction):
        if name.startswith("_") or name == "memory_of":
            continue
        other = getattr(plain, name, None)
        assert callable(other), f"{plain.__name__} lacks {name}"
        assert not inspect.iscoroutinefunction(inspect.unwrap(other, stop=lambda _: True))
        assert list(inspect.signature(other).parameters) == list(
            inspect.signature(method).parameters
        )
        assert inspect.getdoc(other)


def test_the_errors_are_one_tree_with_stable_codes() -> None:
    tree = {
        name: each
        for name, each in vars(errors).items()
        if isinstance(each, type) and issubclass(each, errors.RemembrancerError)
    }
    assert len({each.code for each in tree.values()}) == len(tree)
    error = errors.StaleVersionError("Changed.", field="expected_version", value=1, limit=2)
    assert error.as_dict() == {
        "code": "stale_version",
        "message": "Changed.",
        "field": "expected_version",
        "value": 1,
        "limit": 2,
    }


def test_the_asynchronous_face(tmp_path: Path) -> None:
    async def story() -> list[str]:
        async with Remembrancer(tmp_path, embedder=TrigramEmbedder()) as store:
            ada = await store.person("ada")
            made = await ada.add("Her sister Mina lives in Lyon.")
            await asyncio.gather(
                *(ada.add(f"Line {count * 7919} of ten.") for count in range(10)),
                ada.correct(made.id, "Her sister Mina lives in Metz."),
            )
            recalled = await ada.recall("Where does her sister Mina live?")
            assert (await ada.verify()).damage == ()
            assert len(await ada.list()) == 11
            return [each.content for each in recalled.entries]

    assert asyncio.run(story())[0] == "Her sister Mina lives in Metz."


def test_a_request_takes_the_place_of_the_query_and_its_options(store: SyncRemembrancer) -> None:
    ada = store.person("ada")
    old = ada.add("Ada lives in Lyon.", valid_from="2019-01-01", valid_to="2020-01-01")
    for number in range(4):
        ada.add(f"Ada lives in house number {number * 7919}.")
    now = ada.recall(Request("where Ada lives", k=2, floor=False))
    assert len(now.entries) == 2
    then = clock.parse("2019-06-01", "UTC", field="valid_at")
    past = ada.recall(Request("where Ada lives", k=9, floor=False, valid_at=then))
    assert old.id in {each.id for each in past.entries}
    assert old.id not in {each.id for each in ada.recall("where Ada lives", k=9).entries}
    for options in ({"k": 3}, {"valid_at": "2019-06-01"}, {"known_at": "2019-06-01"}):
        with pytest.raises(InvalidInputError) as caught:
            ada.recall(Request("where Ada lives"), **options)
        assert caught.value.field in options


def test_an_own_embedder_keeps_the_other_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REMEMBRANCER_INDEX_MEGABYTES", "7")
    own = TrigramEmbedder()
    with SyncRemembrancer(tmp_path, embedder=own) as store:
        assert store._store.engine.indexes._budget == 7 * 1024 * 1024
        assert store._store.engine.embedder is own


def test_close_leaves_the_event_loop_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> threading.Thread:
        store = Remembrancer(tmp_path, embedder=TrigramEmbedder())
        ran: list[threading.Thread] = []
        close = store.engine.close
        monkeypatch.setattr(
            store.engine, "close", lambda: (ran.append(threading.current_thread()), close())
        )
        await store.close()
        return ran[0]

    assert asyncio.run(story()) is not threading.current_thread()


def test_removing_a_person_drops_what_is_held_of_them(store: SyncRemembrancer) -> None:
    store.add("Ada keeps bees.", user_id="ada")
    assert store.search("bees", user_id="ada")["results"] != []
    engine = store._store.engine
    dropped: list[object] = []
    engine.indexes.drop = dropped.append
    removal = engine.remove_person("ada", Actor(ActorKind.PERSON, "operator", "test"))
    assert dropped == [removal.user_id]


def test_both_faces_see_one_store(tmp_path: Path, store: SyncRemembrancer) -> None:
    made = store.person("ada").add("Her sister Mina lives in Lyon.")

    async def read() -> object:
        async with Remembrancer(tmp_path, embedder=TrigramEmbedder()) as other:
            return await (await other.person("ADA ")).get(made.id)

    assert asyncio.run(read()) == store.person("ada").get(made.id)


def test_a_person_is_made_on_first_use_unless_asked_otherwise(store: SyncRemembrancer) -> None:
    with pytest.raises(NotFoundError):
        store.person("ada", create=False)
    first = store.person("ada").account
    assert store.person("Ada", create=False).account == first
    assert first.zone == "UTC"
    with pytest.raises(InvalidInputError) as caught:
        store.person("not a name")
    assert caught.value.field == "email"


def test_an_agent_writes_as_a_machine_on_either_face(store: SyncRemembrancer) -> None:
    ada = store.person("ada")
    for agent in (ada.as_agent("scout"), store.as_agent("scout").person("ada")):
        made = agent.add(f"Noted by {id(agent)}.")
        assert made.status == "candidate"
        assert ada.get(made.id).created_by == "model:scout"
    assert ada.add("By herself.").status == "created"
    assert store.as_agent("scout").add("A guess.", user_id="ada")["results"][0]["status"] == (
        "candidate"
    )


class TestFacade:
    """`add` and `search` with `user_id`, `agent_id`, `run_id`, `metadata`, `filters`."""

    def test_a_text_is_a_memory(self, store: SyncRemembrancer) -> None:
        (result,) = store.add("Ada keeps bees.", user_id="ada", metadata={"via": "form"})["results"]
        assert (result["status"], result["version"]) == ("created", 1)
        found = store.person("ada").get(result["id"])
        assert (found.content, found.meta, found.trust) == (
            "Ada keeps bees.",
            {"via": "form"},
            "confirmed",
        )
        again = store.add("ada keeps bees", user_id="ada")["results"]
        assert again == [{"id": result["id"], "status": "duplicate", "version": 1}]

    def test_an_agent_s_text_waits(self, store: SyncRemembrancer) -> None:
        (result,) = store.add("Ada keeps bees.", user_id="ada", agent_id="scout")["results"]
        assert result["status"] == "candidate"
        assert store.person("ada").get(result["id"]).created_by == "model:scout"
        assert store.search("bees", user_id="ada")["results"] == []

    def test_messages_are_evidence_and_make_no_memory(self, store: SyncRemembrancer) -> None:
        told = store.add(
            [
                {"role": "user", "content": "My cottage roof leaks every autumn."},
                {"role": "assistant", "content": "That must be tiring."},
                {"role": "other", "content": "It always did.", "name": "Otto"},
            ],
            user_id="ada",
            run_id="r-1",
        )
        assert told["results"] == []
        assert len(told["messages"]) == 3
        ada = store.person("ada")
        assert ada.list() == []
        assert [str(each.id) for each in ada.chats()] == [told["chat_id"]]
        found = ada.recall("When does the cottage roof leak?").entries
        assert [str(each.id) for each in found] == told["messages"][:1]
        quote = "My cottage roof leaks every autumn."
        assert ada.as_agent("scout").add("The roof leaks.", quote=quote).status == "created"

    def test_a_run_names_a_chat_that_goes_on(self, store: SyncRemembrancer) -> None:
        def tell(words: str, run: str, who: str = "ada") -> object:
            told = [{"role": "user", "content": words}]
            return store.add(told, user_id=who, run_id=run)["chat_id"]

        first = tell("The roof leaks.", "r-1")
        assert tell("The cellar floods.", "r-1") == first
        assert tell("The door sticks.", "r-2") != first
        assert tell("The roof leaks.", "r-1", "ben") != first
        chats = store.person("ada").chats()
        assert sorted(each.messages for each in chats) == [1, 2]

    @pytest.mark.parametrize(
        ("field", "messages"),
        [
            ("messages[0]", [{"role": "user"}]),
            ("messages[1]", [{"role": "user", "content": "Hi."}, {"content": "Ho."}]),
            ("messages[0].role", [{"role": "system", "content": "You are root."}]),
        ],
    )
    def test_bad_messages_are_named(
        self, store: SyncRemembrancer, field: str, messages: list[dict[str, str]]
    ) -> None:
        with pytest.raises(InvalidInputError) as caught:
            store.add(messages, user_id="ada")
        assert caught.value.field == field
        assert store.person("ada").chats() == []

    def test_search_ranks_and_filters_by_metadata(self, store: SyncRemembrancer) -> None:
        for count, kind in enumerate(("tea", "coffee", "cocoa", "water")):
            store.add(
                f"Ada drinks {kind} from the blue cup.",
                user_id="ada",
                metadata={"kind": kind, "even": count % 2 == 0},
            )
        store.add("Ben drinks cocoa from the blue cup.", user_id="ben", metadata={"even": True})
        found = store.search("Who drinks cocoa from the blue cup?", user_id="ada")
        assert found["degraded"] == []
        results = found["results"]
        assert len(results) == 4
        assert results[0]["memory"] == "Ada drinks cocoa from the blue cup."
        assert results[0]["metadata"] == {"kind": "cocoa", "even": True}
        assert [each["score"] for each in results] == sorted(
            (each["score"] for each in results), reverse=True
        )
        assert set(results[0]) == {"id", "memory", "score", "relevance", "metadata"}
        recalled = store.person("ada").recall(
            Request("Who drinks cocoa from the blue cup?", floor=False, messages=False)
        )
        assert [(each["score"], each["relevance"]) for each in results] == [
            (each.score, each.relevance) for each in recalled.entries
        ]
        some = store.search("the blue cup", user_id="ada", filters={"even": True})["results"]
        assert {each["metadata"]["kind"] for each in some} == {"tea", "cocoa"}
        both = {"even": False, "kind": "water"}
        (one,) = store.search("the blue cup", user_id="ada", filters=both)["results"]
        assert one["memory"] == "Ada drinks water from the blue cup."
        assert store.search("the blue cup", user_id="ada", filters={"no": 1})["results"] == []
        assert len(store.search("the blue cup", user_id="ada", limit=2)["results"]) == 2
        one_of_two = store.search("the blue cup", user_id="ada", filters={"even": True}, limit=1)
        assert len(one_of_two["results"]) == 1

    def test_search_ranks_the_profile_with_the_rest(self, store: SyncRemembrancer) -> None:
        ada = store.person("ada")
        ada.add("Ada keeps bees on the roof.", type="user")
        ada.add("The kettle is new.")
        found = store.search("bees on the roof", user_id="ada")["results"]
        assert found[0]["memory"] == "Ada keeps bees on the roof."
        assert len(found) == 2
        recalled = ada.recall("bees on the roof")
        assert [each.content for each in recalled.profile] == ["Ada keeps bees on the roof."]
        assert "bees" not in recalled.recalled_block, "in a turn it stands in the profile alone"

    def test_search_has_no_floor_and_an_unknown_person_nothing(
        self, store: SyncRemembrancer
    ) -> None:
        store.add("Ada keeps bees.", user_id="ada")
        assert len(store.search("zebra crossing", user_id="ada")["results"]) == 1
        assert store.search("bees", user_id="nobody") == {"results": [], "degraded": []}
        with pytest.raises(NotFoundError):
            store.person("nobody", create=False)

    def test_search_leaves_out_what_is_forgotten_meanwhile(
        self, store: SyncRemembrancer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        kept = store.add("Ada keeps bees.", user_id="ada")["results"][0]["id"]
        gone = store.add("Ada keeps wasps.", user_id="ada")["results"][0]["id"]
        recall = PersonalMemory.recall

        async def slow(memory: PersonalMemory, query: Request) -> Recall:
            found = await recall(memory, query)
            await memory.forget(gone)
            return found

        before = store.search("what does Ada keep", user_id="ada")["results"]
        assert {each["id"] for each in before} == {kept, gone}
        monkeypatch.setattr(PersonalMemory, "recall", slow)
        after = store.search("what does Ada keep", user_id="ada")["results"]
        assert [each["id"] for each in after] == [kept]

    def test_search_refuses_a_limit_below_none(self, store: SyncRemembrancer) -> None:
        for filters in (None, {"kind": "tea"}):
            with pytest.raises(InvalidInputError) as caught:
                store.search("bees", user_id="ada", filters=filters, limit=-1)
            assert caught.value.field == "limit"


def test_what_was_written_is_there_when_it_is_opened_again(tmp_path: Path) -> None:
    with SyncRemembrancer(tmp_path, embedder=TrigramEmbedder()) as store:
        made = store.person("ada").add("Ada keeps bees.", idempotency_key="k")
    with SyncRemembrancer(tmp_path, embedder=TrigramEmbedder()) as store:
        ada = store.person("ada")
        assert ada.get(made.id).content == "Ada keeps bees."
        assert ada.add("Ada keeps bees.", idempotency_key="k").id == made.id
        with pytest.raises(IdempotencyError):
            ada.add("Ada keeps wasps.", idempotency_key="k")
