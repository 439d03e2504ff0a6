"""The Teach page: link, plans, notes, worksheet and poll; for a learner with a class code, the vote."""

from urllib.parse import parse_qs, urlsplit

import pytest

from core import quiz
from core.worksheet import worksheet
from pages import PAGES
from tests.pages.conftest import drawn, read, words
from ui import presenter
from ui.poll import poll_store
from ui.poll_store import PollStore, new_voter
from ui.poll_tables import AWAY, PollAway
from ui.qr import qr_svg
from ui.teach import address, plans
from ui.teach.address import LOCAL
from ui.teaching import PLANS, notes, plan

pytestmark = pytest.mark.usefixtures("own_store")
TITLES = {page.slug: page.title for page in PAGES}


def html(app):
    return "\n".join(element.proto.body for element in app.get("html"))


def address_on(app):
    return app.get("code")[0].value


# --- the link ---


def test_the_link_opens_the_state_on_screen(open_page):
    page = open_page("teach", example="two_heads", n_heads=2, head="all", row=3, mask="causal")
    assert address_on(page).startswith(LOCAL + "?")
    query = {name: value for name, [value] in parse_qs(urlsplit(address_on(page)).query).items()}
    assert query["example"] == "two_heads"
    there = open_page("score", **query)
    assert drawn(there).keys() == {"scores.0", "scores.1"}
    assert there.number_input(key="row").value == 3
    assert there.selectbox(key="mask").value == "causal"


def test_the_link_goes_to_any_page_and_to_presenter_mode(open_page):
    page = open_page("teach")
    assert address_on(page) == LOCAL
    page.selectbox(key="link_page").select("Softmax")
    page.checkbox(key="link_present").check().run()
    assert address_on(page) == f"{LOCAL}softmax?present=1"


def test_the_qr_code_is_the_address(open_page, monkeypatch):
    coded = []
    monkeypatch.setattr("ui.teach.link.qr_svg", lambda url: coded.append(url) or qr_svg(url))
    page = open_page("teach", row=6)
    assert coded == [address_on(page)]
    assert html(page).count('<img alt="QR code of the address" src="data:image/svg+xml;base64,') == 1


def test_an_address_too_long_for_a_code_says_so(open_page, monkeypatch):
    monkeypatch.setattr("ui.qr.LONGEST", 10)
    assert "a QR code takes 10" in words(open_page("teach"))


# --- presenter mode and notes ---


@pytest.mark.parametrize("value", ["1", "true"])
def test_presenter_mode_is_large_and_hides_answers(open_page, value):
    page = open_page("score", present=value)
    assert page.sidebar.toggle(key="present").value
    assert "font-size: 19px" in html(page)
    boards = [matrix for matrix in page.get("bidi_component") if '"scale": 1.45' in matrix.proto.json]
    assert len(boards) == 1
    item = quiz.item(quiz.PREDICTIONS["score"])
    assert read(item.question) in words(page)
    assert item.reason not in words(page)
    next(button for button in page.button if button.label == "Reveal").click().run()
    assert item.reason in words(page)
    right = next(option.text for option in item.options if option.key == item.answer)
    assert f"{right}** :green" in words(page)
    next(button for button in page.button if button.label == "Hide").click().run()
    assert item.reason not in words(page)


def test_readers_have_neither_the_switches_nor_the_large_type(open_page):
    page = open_page("score")
    assert not page.get("toggle") or all(toggle.key not in presenter.SWITCHES for toggle in page.toggle)
    assert "font-size: 19px" not in html(page)
    teach = open_page("teach")
    assert [toggle.key for toggle in teach.sidebar.toggle] == ["present", "notes"]


def test_notes_stand_above_the_page(open_page):
    page = open_page("mask", notes="1")
    text = words(page)
    for part in ("say", "ask", "expect", "show", "trap"):
        assert read(getattr(notes("mask"), part)) in text
    assert f"about {notes('mask').minutes} minutes" in text
    item = quiz.item("M2")
    right = next(option.text for option in item.options if option.key == item.answer)
    assert f"M2** {item.question} → *{right}*" in text
    assert "No notes are needed" in words(open_page("teach", notes="1"))


# --- plans ---


@pytest.mark.parametrize("minutes", PLANS)
def test_a_plan_fills_its_minutes_and_links_every_stop(open_page, minutes):
    text = words(open_page("teach", room="Plans", plan=f"{minutes} minutes"))
    assert plan(minutes).title in text
    rows = [line for line in plans.rows(plan(minutes).stops, TITLES) if "](" in line]
    assert len(rows) == len(plan(minutes).stops)
    assert f"| {minutes} | | | *End* |" in text
    for stop in plan(minutes).stops:
        assert f"[{TITLES[stop.page]}](" in text


def test_a_stop_opens_the_state_of_its_question(open_page):
    with_item = next(stop for stop in plan(50).stops if stop.item == "H2")
    query = dict(parse_qs(address.of_item(with_item.item)))
    item = quiz.item("H2")
    page = open_page("heads", **{name: value for name, [value] in query.items()})
    assert page.selectbox(key="n_heads").value == item.setup.n_heads
    assert (page.number_input(key="row").value, page.number_input(key="col").value) == (item.row, item.col)


# --- worksheet ---


def test_the_worksheet_is_of_the_state_and_of_the_variant(open_page):
    page = open_page("teach", room="Worksheet", row=6, sheet=7)
    made = page.get("iframe")[0].proto.srcdoc
    setup = quiz.item("S3").setup
    assert made == worksheet(setup, 7, f"{LOCAL}?row=6")
    page.number_input(key="sheet").set_value(8).run()
    assert page.get("iframe")[0].proto.srcdoc == worksheet(setup, 8, f"{LOCAL}?row=6")


# --- poll ---


def press(app, label):
    next(button for button in app.button if button.label == label).click().run()
    assert not app.exception


def open_class(open_page, **parameters):
    teacher = open_page("teach", room="Poll", **parameters)
    press(teacher, "Open a class")
    return teacher, teacher.subheader[0].value


def test_a_class_votes_changes_its_mind_and_sees_the_answer_last(open_page):
    teacher, code = open_class(open_page, poll="S3")
    assert address_on(teacher) == f"{LOCAL}teach?code={code}"
    learner = open_page("teach", code=code.lower())
    assert "first question will appear" in words(learner)

    press(teacher, "Ask")
    learner.run()
    item = quiz.item("S3")
    wrong = next(option.key for option in item.options if option.key != item.answer)
    learner.radio[0].set_value(item.answer).run()
    learner.radio[0].set_value(wrong).run()
    assert "Your vote is counted" in words(learner)
    assert item.reason not in words(learner)
    assert 'class="bar"' not in html(learner)

    teacher.checkbox(key="poll_hide").uncheck().run()
    assert "**1** vote" in words(teacher)
    assert html(teacher).count("width:100.0%") == 1
    assert "bar right" not in html(teacher)

    press(teacher, "Reveal")
    learner.run()
    meant = quiz.check(item, wrong).meant
    assert 'class="bar right"' in html(teacher)
    assert 'class="bar right"' in html(learner)
    assert item.reason in words(learner)
    assert f"Your answer: {meant}" in words(learner)
    assert learner.radio[0].disabled


def test_voting_again_starts_from_nothing_and_keeps_the_first_vote_beside_it(open_page):
    teacher, code = open_class(open_page, poll="W1")
    press(teacher, "Ask")
    learner = open_page("teach", code=code)
    item = quiz.item("W1")
    learner.radio[0].set_value(item.answer).run()
    press(teacher, "Vote again")
    assert "**0** votes" in words(teacher)
    learner.run()
    assert learner.radio[0].value is None
    press(teacher, "Reveal")
    assert "The vote before:" in words(teacher)
    assert html(teacher).count("width:100.0%") == 1


def test_bars_wait_for_the_reveal_unless_the_teacher_shows_them(open_page):
    """The text promises a class no result before the reveal, and the teacher's page is projected."""
    teacher, code = open_class(open_page, poll="S2")
    press(teacher, "Ask")
    store = poll_store()
    store.vote(store.question(code), new_voter(), "nothing")
    teacher.run()
    assert "**1** vote" in words(teacher).split("\n")
    assert 'class="poll"' not in html(teacher)
    teacher.checkbox(key="poll_hide").uncheck().run()
    assert 'class="poll"' in html(teacher)
    teacher.checkbox(key="poll_hide").check().run()
    press(teacher, "Reveal")
    assert 'class="poll"' in html(teacher)


def test_the_button_that_stands_out_is_the_next_thing_to_do(open_page):
    def primary(app):
        return [button.label for button in app.main.button if button.proto.type == "primary"]

    teacher, _ = open_class(open_page, poll="S2")
    assert primary(teacher) == ["Ask"]
    press(teacher, "Ask")
    assert primary(teacher) == ["Reveal"]
    press(teacher, "Reveal")
    assert primary(teacher) == ["Vote again"]


def test_a_closed_class_is_gone_for_everybody(open_page):
    teacher, code = open_class(open_page)
    press(teacher, "Close the class and forget its votes")
    assert any(button.label == "Open a class" for button in teacher.button)
    assert f"There is no class {code}" in read(open_page("teach", code=code).info[0].value)


def test_another_session_cannot_lead_the_class(open_page):
    _, code = open_class(open_page)
    learner = open_page("teach", code=code, room="Poll")
    assert not learner.main.button


@pytest.mark.parametrize("code", ["<img src=x onerror=alert(1)>", "[a](javascript:1)", "'; DROP TABLE x"])
def test_what_a_visitor_types_stays_text(open_page, code):
    page = open_page("teach", code=code[:16])
    assert "<img" not in html(page)
    assert "A class code has 6" in read(page.info[0].value)


def test_a_store_that_is_away_is_told_and_the_lesson_goes_on(open_page, tmp_path, monkeypatch):
    (tmp_path / "blocked").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "blocked"))
    assert open_page("teach", room="Poll").warning[0].value == AWAY
    assert read(open_page("teach", code="ABCDEF").info[0].value) == AWAY
    assert drawn(open_page("score"))


def test_a_store_that_goes_away_during_the_poll_is_told(open_page, monkeypatch):
    teacher, code = open_class(open_page)
    press(teacher, "Ask")

    def away(*_):
        raise PollAway(AWAY)

    monkeypatch.setattr(PollStore, "question", away)
    teacher.run()
    assert not teacher.exception
    assert teacher.warning[0].value == AWAY
    learner = open_page("teach", code=code)
    assert read(learner.info[0].value) == AWAY
