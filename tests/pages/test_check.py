"""Check yourself: eight questions, one at a time, and what came of them; the sentence done alone."""

import pytest

from core import quiz
from core.examples import EXAMPLES
from core.recap import recap
from core.setup import Setup, inputs
from core.trace import card
from tests.pages.conftest import drawn, read, words
from tests.pages.test_trace import blank, chain, fill

NUMBER_FIRST = next(seed for seed in range(99) if not quiz.item(quiz.next_item([], seed), seed).options)


def on_screen(app, seed=0):
    """The item that is asked now."""
    shown = words(app)
    return next(item for name in quiz.TEMPLATES if (item := quiz.item(name, seed)).question in shown)


def secrets(item):
    return [item.reason, item.measured, *(o.meaning for o in item.options if o.meaning)]


def reply(app, item, right):
    """Answer the item on screen, rightly or not."""
    if item.options:
        key = next(option.key for option in item.options if (option.key == item.answer) == right)
        next(one for one in app.radio if one.key.startswith("check answer")).set_value(key)
    else:
        number = item.answer if right else item.answer + 1000
        next(one for one in app.text_input if one.key.startswith("check answer")).set_value(str(number))
    press(app, "Answer")


def press(app, label):
    next(one for one in app.button if one.label == label).click().run()
    assert not app.exception


def walk(app, right, seed=0):
    """Answer all there is; right: item -> whether to answer rightly."""
    asked = []
    while not any(one.label == "Start again" for one in app.button) or "right.**" not in words(app):
        item = on_screen(app, seed)
        assert not [secret for secret in secrets(item) if secret in words(app)]
        reply(app, item, right(item))
        assert item.reason in words(app)
        asked.append(item)
        press(
            app, "See the result" if any(b.label == "See the result" for b in app.button) else "Next question"
        )
    return asked


def test_all_right(open_page):
    app = open_page("check")
    asked = walk(app, lambda _: True)
    assert len({item.id for item in asked}) == quiz.LENGTH
    assert "8 of 8 right." in words(app)
    assert "No page was missed twice." in words(app)


def test_misses_are_asked_about_again_and_send_the_reader_back(open_page):
    app = open_page("check", set=5)
    asked = walk(app, lambda item: item.page != "heads", seed=5)
    assert [item.page for item in asked[:2]] == ["heads", "heads"]
    assert "heads" not in [item.page for item in asked[2:]]
    assert "6 of 8 right." in words(app)
    assert "Walk again: [Heads](heads)" in words(app)
    assert all(item.question in words(app) for item in asked[:2])


def test_a_wrong_answer_is_told_what_it_means_and_where_to_see_it(open_page):
    app = open_page("check")
    item = on_screen(app)
    reply(app, item, right=False)
    wrong = next(option for option in item.options if option.key != item.answer)
    assert wrong.meaning in words(app)
    assert f"[See it on the page Heads]({item.page}" in words(app)


def test_no_answer_and_an_unreadable_one_are_asked_for_again(open_page):
    app = open_page("check")
    press(app, "Answer")
    assert "Choose an answer first." in [read(one.value) for one in app.warning]
    app.number_input(key="set").set_value(NUMBER_FIRST).run()
    item = on_screen(app, NUMBER_FIRST)
    next(one for one in app.text_input if one.key.startswith("check answer")).set_value("about five")
    press(app, "Answer")
    assert "A number is expected here" in read(app.warning[0].value)
    assert not [secret for secret in secrets(item) if secret in words(app)]


def test_start_again_and_another_set(open_page):
    app = open_page("check")
    first = on_screen(app)
    reply(app, first, right=True)
    press(app, "Start again")
    assert on_screen(app).id == first.id
    app.number_input(key="set").set_value(7).run()
    reply(app, on_screen(app, 7), right=True)
    app.number_input(key="set").set_value(0).run()
    assert on_screen(app).id == first.id
    app.number_input(key="set").set_value(7).run()
    assert "1 of 8 answered" in [bar.proto.text for bar in app.get("progress")]


def test_the_result_can_be_looked_at_and_printed(open_page):
    app = open_page("check")
    walk(app, lambda _: False)
    next(one for one in app.toggle if one.label == "Look at it and print").set_value(True).run()
    assert not app.exception
    page = app.get("iframe")[0].proto.srcdoc
    assert "0 of 8 items right" in page
    assert "window.print()" in page


def test_every_sentence_of_the_recap_links_to_its_state(open_page):
    shown = words(open_page("check"))
    for sentence in recap():
        assert sentence.text in shown
        assert f"]({sentence.page}" in shown
    assert "(mask?mask=causal&row=0&col=0)" in shown


@pytest.mark.parametrize("parameters", [{}, {"example": "needle", "seq_len": 8, "mask": "causal"}])
def test_the_cup_and_the_plate_alone(open_page, parameters):
    app = open_page("check", **parameters)
    setup = Setup("coref", seq_len=EXAMPLES["coref"].seq_len)
    given = drawn(app)
    assert set(given) == {"q", "k", "v"}
    assert (given["k"]["values"] == inputs(setup).k[0]).all()
    assert chain(app) == ["?"] * 4
    made = card(setup, "alone", 6, 1)
    assert [b.id for b in made.blanks] == ["score", "scaled", "weight", "output"]
    fill(app, {"score": "8", "scaled": "4", "weight": "0.475", "output": "4.33"})
    assert blank(app, "output").value == "4.33"
    assert chain(app) == ["8", "4", "0.475", "4.326"]
    assert "You have traced one cell" in words(app)
