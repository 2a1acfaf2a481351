"""Reading: recall with its explanation, lists, history, and the rest of the record."""

from __future__ import annotations

from tests.cli.conftest import Shell

MEMORY = {
    "id", "version", "content", "type", "path", "space", "trust", "valid_from", "valid_to",
    "recorded_from", "created_at", "changed_at", "created_by", "pin", "meta", "vector",
}  # fmt: skip


def test_recall_answers_in_its_documented_form(either: Shell):
    vegan = either.add("Ada is vegan.", "--type", "user")
    sister = either.add("Her sister Mina lives in Lyon.", "--path", "family")
    found = either.json("recall", "Where does her sister Mina live?")
    assert set(found) == {"profile", "entries", "omitted", "degraded", "tokens"}
    assert found["profile"] == [{"id": vegan, "content": "Ada is vegan.", "trust": "confirmed"}]
    entry = found["entries"][0]
    assert set(entry) == {
        "kind", "id", "content", "score", "relevance", "rank", "arms", "at",
    }  # fmt: skip
    assert (entry["kind"], entry["id"], entry["rank"]) == ("memory", sister, 1)
    assert 0 <= entry["relevance"] <= 1
    assert entry["at"].endswith("Z")
    assert found["degraded"] == []
    assert set(found["tokens"]) == {"profile", "recalled"}


def test_R4_explain_says_order_reason_and_what_was_left_out(shell: Shell):
    shell.add("Her sister Mina lives in Lyon.")
    left = shell.add("Her sister Mina lives in Lille.")
    shell.json("archive", left)
    said = shell.ran("recall", "Where does her sister Mina live?", "--explain").stdout
    assert "1. Her sister Mina lives in Lyon." in said
    assert "score " in said
    assert "words " in said
    assert "lexical" in said
    assert "Left out" in said
    assert "you put it away: Her sister Mina lives in Lille." in said
    assert "milliseconds: " in said
    found = shell.json("recall", "Where does her sister Mina live?", "--explain")
    assert {"why", "trace"} <= set(found)
    assert {"id": left, "reason": "archived"} in found["omitted"]


def test_recall_of_nothing_is_done(shell: Shell):
    assert shell.json("recall", "Good morning!")["entries"] == []
    assert "nothing fitted well enough" in shell.ran("recall", "Good morning!").stdout


def test_R1_k_bounds_the_entries(shell: Shell):
    for what in ("lives in Lyon", "works in a bakery", "swims on Mondays"):
        shell.add(f"Her sister Mina {what}.")
    asked = ("recall", "When does her sister Mina swim, where does she live and work?")
    first = shell.json(*asked, "--k", "1")
    assert [each["rank"] for each in first["entries"]] == [1]
    assert "over_k" in {each["reason"] for each in first["omitted"]}
    assert len(shell.json(*asked)["entries"]) > 1
    assert shell.json(*asked, "--k", "-1", code=1)["field"] == "k"


def test_S7_a_space_is_looked_at_by_name_and_never_made_by_a_read(shell: Shell):
    shell.add("The atlas needs a legend.", "--space", "Atlas")
    asked = ("recall", "What does the atlas need?")
    assert len(shell.json(*asked, "--space", "Atlas")["entries"]) == 1
    assert shell.json(*asked)["entries"] == []
    assert shell.json(*asked, "--space", "Typo", code=1)["code"] == "not_found"
    assert shell.json("list", "--space", "Typo", code=1)["code"] == "not_found"
    kinds = [each["kind"] for each in shell.json("events")["events"]]
    assert kinds.count("space.created") == 1


def test_list_filters_and_pages(either: Shell):
    one = either.add("Rivers rise in spring.", "--path", "work/atlas")
    two = either.add("Mango eats warm food.", "--path", "home", "--type", "user")
    three = either.add("The river map is late.", "--path", "work")

    def ids(*words: str) -> list[str]:
        return [each["id"] for each in either.json("list", *words)["memories"]]

    assert ids() == [one, two, three]
    assert ids("--path", "work") == [one, three]
    assert ids("--type", "user") == [two]
    assert ids("--contains", "RIVER") == [one, three]
    assert ids("--limit", "1", "--offset", "1") == [two]
    assert ids("--state", "archived") == []
    assert set(either.json("list")["memories"][0]) == MEMORY


def test_list_shows_each_memory_whole_with_mark_and_word(shell: Shell):
    long = "A long line about rivers and the sea. " * 12
    made = shell.add(long.strip(), "--path", "work")
    said = shell.ran("list").stdout
    assert "✓ Confirmed · Context · work" in said
    assert long.strip() in said
    assert made in said
    shell.add("Ada wants a boat.", "--as-agent", "helper")
    assert "◌ Candidate" in shell.ran("list", "--state", "candidate").stdout
    assert "--offset 1" in shell.ran("list", "--limit", "1").stderr
    assert shell.ran("list", "--contains", "zebra").stdout == "No memories.\n"


def test_history_shows_both_times_and_the_words_that_changed(shell: Shell):
    made = shell.add("I swim on Mondays.")
    shell.json("correct", made, "I swim on Tuesdays.", "--changed-at", "2026-04-01")
    said = shell.ran("history", made).stdout
    assert "I swim on [-Mondays-]{+Tuesdays+}." in said
    assert "memory.corrected" in said
    assert "true since 2026-04-01" in said
    assert "true until 2026-03-31" in said
    assert "recorded " in said
    found = shell.json("history", made)
    assert set(found) == {"id", "version", "forgotten", "changes", "versions", "evidence"}
    assert [each["kind"] for each in found["changes"]] == ["memory.added", "memory.corrected"]
    assert ["gone", "Mondays"] in found["changes"][1]["difference"]
    first = found["changes"][0]["at"]
    early = shell.json("history", made, "--known-at", first)
    assert [each["kind"] for each in early["changes"]] == ["memory.added"]
    march = shell.json("history", made, "--valid-at", "2026-03-01")
    assert {each["content"] for each in march["versions"]} == {"I swim on Mondays."}


def test_history_of_a_forgotten_memory_shows_the_bar(shell: Shell):
    made = shell.add("My PIN is four nines.")
    shell.json("forget", made)
    said = shell.ran("history", made).stdout
    assert "▬ Forgotten" in said
    assert "nines" not in said


def test_A1_events_hold_actor_and_kind_and_no_words(shell: Shell):
    made = shell.add("My PIN is four nines.")
    found = shell.json("events")["events"]
    assert [(each["event"], each["kind"], each["subject"]) for each in found] == [
        (1, "memory.added", made)
    ]
    assert (found[0]["actor"], found[0]["surface"]) == ("person:ada@example.org", "cli")
    assert "nines" not in str(found)
    assert "memory.added" in shell.ran("events").stdout
    assert shell.json("events", "--after", "1")["events"] == []
    assert shell.ran("events", "--after", "1").stdout == "No events.\n"


def test_tombstones_keep_refuted_words_and_no_forgotten_ones(shell: Shell):
    shell.json("correct", shell.add("Mina lives in Lyon."), "Mina lives in Lille.", "--was-wrong")
    shell.json("forget", shell.add("My PIN is four nines."))
    found = shell.json("tombstones")["tombstones"]
    assert [(each["kind"], each["content"]) for each in found] == [
        ("forgotten", None),
        ("refuted", "Mina lives in Lyon."),
    ]
    said = shell.ran("tombstones").stdout
    assert "▬ Forgotten" in said
    assert "Mina lives in Lyon." in said
    assert "nines" not in said


def test_nothing_there_is_said(shell: Shell):
    assert "Nothing was rejected" in shell.ran("tombstones").stdout
    assert shell.ran("chats").stdout == "No chats.\n"
    assert shell.json("chats") == {"chats": []}


def test_S1_another_persons_memory_is_as_none(either: Shell):
    secret = either.add("Her sister Mina lives in Lyon.")
    other = f"ben-{either.user}"
    either.json("user", "add", other)
    assert either.json("list", "--user", other)["memories"] == []
    assert either.json("recall", "Where does Mina live?", "--user", other)["entries"] == []
    problem = either.json("history", secret, "--user", other, code=1)
    nobody = either.json("history", "01999999-0000-7000-8000-000000000000", "--user", other, code=1)
    assert problem["code"] == nobody["code"] == "not_found"
    assert either.json("history", secret)["id"] == secret


def test_degraded_is_said_on_stderr(shell: Shell):
    shell.add("Her sister Mina lives in Lyon.")
    shell.environment["REMEMBRANCER_EMBEDDER"] = "http"
    shell.environment["REMEMBRANCER_EMBEDDER_URL"] = "http://127.0.0.1:9"
    shell.environment["REMEMBRANCER_EMBEDDER_MODEL"] = "none"
    result = shell.ran("recall", "Where does her sister Mina live?")
    assert result.exit_code == 0
    assert "By words only" in result.stderr
    assert "Lyon" in result.stdout
    found = shell.json("recall", "Where does her sister Mina live?")
    assert found["degraded"] == ["vector"]
    assert found["entries"]


def test_W8_a_memory_without_a_vector_is_pending_until_reindex(shell: Shell):
    shell.environment["REMEMBRANCER_EMBEDDER"] = "none"
    made = shell.json("add", "Mango is a cat.")
    assert made["vector"] == "pending"
    assert shell.json("add", "Mango is a cat.")["vector"] == "pending"
    assert "reindex --pending" in shell.ran("add", "Pixel is a dog.").stderr
    shell.environment["REMEMBRANCER_EMBEDDER"] = "trigram"
    done = shell.json("reindex", "--pending")
    assert done == {"people": [{"user": "ada@example.org", "terms": 0, "vectors": 2}]}
    assert {each["vector"] for each in shell.json("list")["memories"]} == {"ready"}
