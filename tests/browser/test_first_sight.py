"""The clock of the first load: it must see into a component, and must not wait for a busy page."""

from urllib.parse import quote

from benchmarks.first_load import FIRST_SIGHT

# A component that is there after 50 ms and painted after another 50; then the page is busy for half a second.
LATE = """<body><script>
setTimeout(() => {
    const root = document.body.appendChild(document.createElement("div")).attachShadow({ mode: "open" });
    root.innerHTML = "<p>numbers</p>";
    setTimeout(() => {
        root.firstChild.dataset.painted = 1;
        window.at = performance.now();
        requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(busy)));
    }, 50);
}, 50);
function busy() {
    const end = performance.now() + 500;
    while (performance.now() < end);
}
</script></body>"""


def test_the_first_sight_is_the_paint_itself(page):
    page.add_init_script(f'{FIRST_SIGHT}("[data-painted]")')
    page.goto(f"data:text/html,{quote(LATE)}", wait_until="commit")
    seen = page.evaluate("sight")
    assert 0 < seen - page.evaluate("at") < 400
