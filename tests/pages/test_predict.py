"""The predictions: asked first, then measured; the answer is not on the page before."""

from urllib.parse import parse_qsl

import pytest

from core import quiz
from core.setup import Setup
from pages import PAGES
from tests.pages.conftest import read, words
from ui import predict

SLUGS = [page.slug for page in PAGES if page.slug in ("start", *quiz.PREDICTIONS)]


def question(slug, variant=0, setup=None):
    if slug == "start":
        return quiz.longer_item(setup or Setup(), variant)
    return quiz.item(quiz.PREDICTIONS[slug], variant + (slug == "mask"))


def radio(app):
    return next(one for one in app.radio if one.key.startswith("predict "))


def button(app, label):
    return next(one for one in app.button if one.label == label)


def commit(app, key):
    radio(app).set_value(key).run()
    button(app, "Commit").click().run()
    assert not app.exception


def secrets(item):
    """What may not reach the browser before the reader has committed."""
    return [item.reason, item.measured, *(option.meaning for option in item.options if option.meaning)]


def sent(app):
    """All that the browser receives, boards aside."""
    return "\n".join(str(element.proto) for element in app.main if hasattr(element, "proto"))


@pytest.mark.parametrize("slug", SLUGS)
def test_question_stands_there_without_its_answer(open_page, slug):
    app = open_page(slug)
    item = question(slug)
    assert item.question in words(app)
    assert [read(shown) for shown in radio(app).options] == [option.text for option in item.options]
    assert button(app, "Commit").disabled
    assert not [secret for secret in secrets(item) if secret in words(app) or secret in sent(app)]


@pytest.mark.parametrize("slug", SLUGS)
@pytest.mark.parametrize("right", [True, False])
def test_prediction_stands_beside_what_was_measured(open_page, slug, right):
    app = open_page(slug)
    item = question(slug)
    chosen = next(option for option in item.options if (option.key == item.answer) == right)
    commit(app, chosen.key)
    shown = words(app)
    verdict = ":green[:material/check:]" if right else ":orange[:material/close:]"
    assert f"{verdict} {chosen.text} | {item.measured}" in shown
    assert item.reason in shown
    assert right or chosen.meaning in shown


def test_words_that_are_not_on_screen_come_with_their_sentence(open_page):
    sentence = "“The cup hit the plate and it broke”: "
    assert question("mask").setup.example == "coref"
    assert sentence + question("mask").question in words(open_page("mask"))
    assert sentence not in words(open_page("mask", example="coref", seq_len=8))
    assert "”: " + question("score").question not in words(open_page("score"))


def test_words_whose_numbers_are_not_on_screen_come_with_their_state(open_page):
    asked = question("start").question
    assert f"At d_k = 4: {asked}" in words(open_page("start", d_k=64))
    assert f"Without your edits: {asked}" in words(open_page("start", edits="q.0.4.0=1"))
    assert "At d_k = 4: You edit" in words(open_page("score", d_k=64))
    assert "broke” at d_k = 4: A mask" in words(open_page("mask", d_k=64))
    for slug in ("softmax", "blend", "heads"):  # what holds in any state names none
        assert "At d_k = 4: " not in words(open_page(slug, d_k=64))


@pytest.mark.parametrize("seed", range(12))
def test_a_question_about_an_examples_numbers_names_its_state(seed):
    item = quiz.item("C3", seed)
    setup = item.setup
    assert f"In the {setup.example} example at T = {setup.seq_len} and d_k = {setup.d_k}" in item.question


def test_skip_is_one_click_and_can_be_taken_back(open_page):
    app = open_page("score")
    button(app, "Skip").click().run()
    assert question("score").question not in words(app)
    button(app, "Predict, then see").click().run()
    assert question("score").question in words(app)


def test_another_like_it_is_the_twin_of_the_next_seed(open_page):
    app = open_page("score", twin=3)
    assert question("score", 3).question in words(app)
    commit(app, question("score", 3).answer)
    button(app, "Another like it").click().run()
    assert app.number_input(key=predict.VARIANT).value == 4
    assert question("score", 4).question in words(app)
    assert question("score", 4).reason not in words(app)


def test_an_answer_is_kept_while_the_reader_walks_on(open_page):
    app = open_page("score")
    item = question("score")
    commit(app, item.answer)
    app.number_input(key="row").set_value(1).run()
    assert item.measured in words(app)


def test_the_start_page_asks_about_what_is_not_on_screen(open_page):
    app = open_page("start", seq_len=12)
    assert question("start", setup=Setup(seq_len=12)).question in words(app)


def test_show_it_puts_the_items_state_on_screen(open_page):
    app = open_page("score", example="coref", seq_len=9, edits="q.0.0.0=9")
    item = question("score")
    commit(app, item.answer)
    button(app, "Show it").click().run()
    assert not app.exception
    assert app.selectbox(key="example").value == item.setup.example
    assert app.number_input(key="seq_len").value == item.setup.seq_len
    assert app.text_input(key="edits").value == item.show["edits"]
    assert (app.number_input(key="row").value, app.number_input(key="col").value) == (item.row, item.col)
    assert "Show it" not in [one.label for one in app.button]


def test_no_lab_of_the_mask_page_tells_the_number_that_is_asked_for(open_page):
    item = question("mask")
    number = next(option.text for option in item.options if option.key == item.answer).removeprefix("about ")
    elsewhere = words(open_page("mask"))
    assert number not in elsewhere
    assert f"{float(number):.0%}".replace("%", " %") not in elsewhere


@pytest.mark.parametrize("slug", [slug for slug in SLUGS if slug not in ("clinic", "code")])
def test_show_it_opens_what_is_seen_beyond_the_setup(open_page, slug):
    app = open_page(slug)
    item = question(slug)
    commit(app, item.answer)
    button(app, "Show it").click().run()
    assert not app.exception
    assert item.seen_on == slug
    assert {name: app.session_state[name] for name in item.show} == dict(item.show)
    assert (app.number_input(key="row").value, app.number_input(key="col").value) == (item.row, item.col)
    assert "Show it" not in [one.label for one in app.button]
    assert item.question in words(app)
    assert item.measured in words(app)
    assert "Without your edits: " not in words(app)
    for name in [value for key, value in item.show.items() if key.endswith("_lab")]:
        assert f"[It is below, in the lab {name}](#{app.header[0].proto.anchor})" in words(app)


@pytest.mark.parametrize(("slug", "twin", "name"), [("break_it", 0, "window"), ("softmax", 3, "shift")])
def test_the_address_holds_what_show_it_has_opened(open_page, slug, twin, name):
    """Also what the page draws only now: or a reload would show something else."""
    app = open_page(slug, twin=twin)
    item = question(slug, twin)
    commit(app, item.answer)
    button(app, "Show it").click().run()
    assert app.query_params[name] == str(item.show[name])


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("item_id", [name for name in quiz.TEMPLATES if quiz.item(name).show])
def test_every_item_is_shown_by_inputs_that_its_page_has(open_page, item_id, seed):
    """A name or a value that the page does not know would fall back to the page's own."""
    item = quiz.item(item_id, seed)
    page, _, query = predict.address(item).partition("?")
    app = open_page(page, **dict(parse_qsl(query)))
    assert {name: app.session_state[name] for name in item.show} == dict(item.show)


@pytest.mark.parametrize(("slug", "where"), [("clinic", "break_it?example=random&"), ("code", "blend?")])
def test_a_claim_that_is_seen_on_another_page_has_a_link(open_page, slug, where):
    app = open_page(slug)
    item = question(slug)
    commit(app, item.answer)
    assert f"[Show it]({predict.address(item)})" in words(app)
    assert predict.address(item).startswith(where)
    assert "Show it" not in [one.label for one in app.button]


def _named(key):
    """The id and the seed in a radio's key."""
    _, item_id, seed, *_ = key.split()
    return item_id, int(seed)


@pytest.mark.parametrize("slug", SLUGS)
def test_another_like_it_asks_something_else_each_time(open_page, slug):
    app = open_page(slug)
    asked = []
    for _ in range(4):
        box = radio(app)
        asked.append((box.label, frozenset(map(read, box.options))))
        answer = "1" if slug == "start" else quiz.item(*_named(box.key)).answer
        box.set_value(answer).run()
        button(app, "Commit").click().run()
        button(app, "Another like it").click().run()
        assert not app.exception
    assert len(set(asked)) == len(asked)


def test_where_there_is_no_twin_none_is_offered(open_page, monkeypatch):
    monkeypatch.setattr(quiz, "next_twin", lambda *_: None)
    app = open_page("score")
    commit(app, question("score").answer)
    assert "Another like it" not in [one.label for one in app.button]
    assert "Show it" in [one.label for one in app.button]


@pytest.mark.parametrize("junk", ["-1", "10000", "x"])
def test_junk_variant_is_the_authors_own(open_page, junk):
    assert question("score").question in words(open_page("score", twin=junk))
