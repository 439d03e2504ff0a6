"""Messages put together as the browser does it."""

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks.load.messages import Screen, board, exception

FINISHED, CUT_SHORT = ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_EARLY_FOR_RERUN


def begin() -> ForwardMsg:
    message = ForwardMsg()
    message.new_session.page_script_hash = "p"
    message.new_session.initialize.session_id = "s"
    return message


def end(status=FINISHED) -> ForwardMsg:
    return ForwardMsg(script_finished=status)


def text(body: str, *place: int, hash: str = "") -> ForwardMsg:
    message = ForwardMsg(hash=hash)
    message.delta.new_element.text.body = body
    message.metadata.delta_path.extend(place)
    message.metadata.cacheable = bool(hash)
    return message


def reference(hash: str, *place: int) -> ForwardMsg:
    message = ForwardMsg(ref_hash=hash)
    message.metadata.delta_path.extend(place)
    return message


def shown(screen: Screen) -> list[str]:
    return [element.text.body for element in screen.elements()]


def take(*messages: ForwardMsg) -> Screen:
    screen = Screen()
    for message in messages:
        screen.take(message)
    return screen


def test_elements_stand_in_the_order_of_their_places() -> None:
    screen = take(begin(), text("c", 0, 2), text("b", 0, 1, 5), text("a", 0, 1))
    assert screen.running
    assert shown(screen) == ["a", "b", "c"]
    assert (screen.session_id, screen.page) == ("s", "p")


def test_a_finished_run_leaves_nothing_of_the_one_before() -> None:
    screen = take(begin(), text("old", 0, 0), text("more", 0, 1), end(), begin(), text("new", 0, 0))
    assert shown(screen) == ["new", "more"]  # not yet finished: what has not been drawn again still stands
    screen.take(end())
    assert shown(screen) == ["new"]


def test_a_run_that_was_cut_short_takes_nothing_away() -> None:
    screen = take(
        begin(), text("old", 0, 0), text("more", 0, 1), end(), begin(), text("new", 0, 0), end(CUT_SHORT)
    )
    assert shown(screen) == ["new", "more"]


def test_a_reference_stands_for_the_message_at_its_new_place() -> None:
    screen = take(begin(), text("large", 0, 0, hash="h"), end(), begin(), text("first", 0, 0))
    assert screen.kept.hashes() == ["h"]
    whole = screen.take(reference("h", 0, 1))
    assert whole.delta.new_element.text.body == "large"
    assert shown(screen) == ["first", "large"]


def test_what_three_runs_did_not_use_is_no_longer_kept() -> None:
    screen = take(begin(), text("large", 0, 0, hash="h"), end())
    for _ in range(3):
        screen.take(reference("h", 0, 0))
        screen.take(end())
    assert screen.kept.hashes() == ["h"]
    screen.take(end())
    assert screen.kept.hashes() == ["h"]
    screen.take(end())
    assert screen.kept.hashes() == []
    with pytest.raises(KeyError):
        screen.take(reference("h", 0, 0))


def test_a_board_is_told_from_another_component() -> None:
    message = ForwardMsg()
    component = message.delta.new_element.bidi_component
    component.id, component.component_name, component.json = "i", "lesson_steps", "{}"
    assert board(message.delta.new_element) is None
    component.component_name = "attention_matrices"
    assert board(message.delta.new_element) == ("i", "{}")


def test_an_exception_is_seen() -> None:
    message = ForwardMsg()
    message.delta.new_element.exception.type = "ValueError"
    message.delta.new_element.exception.message = "no"
    assert exception(message) == "ValueError: no"
    assert exception(text("fine", 0)) is None
    lost = ForwardMsg()
    lost.page_not_found.page_name = "nowhere"
    assert exception(lost) == "page not found: nowhere"
