"""The page that can be asked, in a real browser."""

import itertools
from html import escape

import pytest

from support.browser import outcome, with_script
from support.flows import large, made
from whence.figures.flow.html import as_frame, as_html

TOKENS = ["so", "</script><script>document.body.dataset.run = 1</script>", "<img src=x onerror=alert(1)>", "dull"]
POINT = """
const all = (query) => [...document.querySelectorAll(query)];
const said = () => document.querySelector(".said").textContent;
const point = (button, kind = "pointerenter") => button.dispatchEvent(new PointerEvent(kind));
const press = (target, key) => target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
const canvas = document.querySelector("canvas.over");
// how many pixels are painted between two places
const ink = (from, to) => canvas.getContext("2d").getImageData(from, 0, to - from, canvas.height).data
  .filter((value, at) => at % 4 === 3 && value > 0).length;
"""
ASKED = """
const data = JSON.parse(document.getElementById("data").textContent), { x } = data.layout;
const [heads, tokens] = [all("button.head"), all("button.token")];
const rows = x.map((row) => [Math.floor(row[0]) - 4, Math.ceil(row.at(-1)) + 4]);
const painted = () => rows.map(([from, to]) => ink(from, to));
const seen = { begin: said(), run: document.body.dataset.run ?? null, images: all("img").length,
               texts: tokens.map((one) => one.textContent), titles: tokens.map((one) => one.title), still: painted() };
point(heads[1]);
seen.head = { said: said(), painted: painted(), asked: document.querySelector(".stage").classList.contains("asked") };
point(heads[1], "pointerleave");
seen.left = { said: said(), painted: painted() };
tokens[3].click();
seen.token = { said: said(), pressed: tokens.map((one) => one.getAttribute("aria-pressed")) };
point(heads[0]);
seen.both = { said: said(), painted: painted() };
press(tokens[3], "Escape");
seen.escape = { said: said(), pressed: tokens.map((one) => one.getAttribute("aria-pressed")) };
tokens[0].focus();
press(document.activeElement, "ArrowLeft");
const focused = document.activeElement, stops = all("button").filter((one) => one.tabIndex === 0).length;
seen.focus = { at: tokens.indexOf(focused), stops, said: said(), name: focused.getAttribute("aria-label") };
const sized = prepared(data.flow);
seen.near = nearest({ flow: sized, layout: data.layout }, x[1][2], data.layout.y[1]);
const details = document.querySelector("details");
details.dispatchEvent(new Event("toggle"));
seen.table = all("table tr").map((row) => [...row.children].map((cell) => cell.textContent));
seen.label = document.querySelector(".whence-flow").getAttribute("aria-label");
seen.paths = [];
lines(sized, 1, reach(sized, 1, 3), 0, (level, query, key, amount) => seen.paths.push([level, query, key, amount]));
return seen;
"""


@pytest.fixture(scope="module")
def flow():
    return made(TOKENS, 2, 2)


@pytest.fixture(scope="module")
def seen(flow, tmp_path_factory):
    return outcome(with_script(as_html(flow), POINT + ASKED), tmp_path_factory.mktemp("page"))


def test_tokens_are_text_and_nothing_of_them_is_run(seen):
    assert seen["run"] is None
    assert seen["images"] == 0
    assert seen["texts"] == ["so", "</script><scrip…", "<img src=x oner…", "dull"]
    assert [title.rpartition(":")[0] for title in seen["titles"]] == TOKENS


def test_a_head_that_is_pointed_at_stands_out(seen, flow):
    assert seen["still"] == [0, 0]
    assert seen["head"]["asked"]
    first, second = seen["head"]["painted"]
    assert first < second / 4  # in the other column only what passes from the prediction and to the tokens
    best = TOKENS[int(flow.nodes[0, 1].argmax())]
    assert seen["head"]["said"].startswith(f"Head 1: its attention arrives mostly at “{best}” (")
    assert seen["left"] == {"said": seen["begin"], "painted": [0, 0]}


def test_a_token_that_is_clicked_stays_until_escape(seen, flow):
    share = f"{float(f'{100 * flow.nodes[0, :, 3].mean():.2g}'):g}\u00a0%"
    assert seen["token"]["said"].startswith(f"Paths to “dull”: {share} of all attention arrives there")
    assert seen["token"]["pressed"] == ["false", "false", "false", "true"]
    assert seen["both"]["said"].startswith("Paths through head 0 to “dull”: ")
    assert seen["escape"] == {"said": seen["begin"], "pressed": ["false"] * 4}


def test_the_keyboard_reaches_everything(seen):
    assert seen["focus"]["at"] == 3  # left of the first is the last
    assert seen["focus"]["stops"] == 2  # heads, tokens
    assert seen["focus"]["said"].startswith("Paths to “dull”")
    assert seen["focus"]["name"].startswith("dull, token 4 of 4, score ")


def test_a_dot_tells_what_has_arrived(seen, flow):
    share = f"{float(f'{100 * flow.nodes[1, 1, 2]:.2g}'):g}\u00a0%"
    assert seen["near"]["head"] == 1
    assert seen["near"]["told"] == f" At layer 0, {share} of it has arrived at “{TOKENS[2]}”."


def test_the_pointer_over_a_column_and_away(flow, tmp_path):
    script = """
    const data = JSON.parse(document.getElementById("data").textContent), stage = document.querySelector(".stage");
    globalThis.requestAnimationFrame = (work) => (work(), 0); // no frames are made for a page that nobody sees
    const over = (x, y) => {
      const { left, top } = stage.getBoundingClientRect();
      stage.dispatchEvent(new PointerEvent("pointermove", { clientX: left + x, clientY: top + y, bubbles: true }));
      return said();
    };
    const { x, y } = data.layout;
    const seen = [over(x[0][3], y[0]), over(x[0][3], (y[0] + y[1]) / 2 + 5), over(x[0][3], 2)];
    over(x[1][0], y[1]);
    stage.dispatchEvent(new PointerEvent("pointerleave"));
    return [...seen, said()];
    """
    page = with_script(as_html(flow), POINT + script)
    dot, column, above, left = outcome(page, tmp_path)
    share = f"{float(f'{100 * flow.nodes[0, 0, 3]:.2g}'):g}\u00a0%"
    assert dot == f"{column} At the input, {share} of it has arrived at “dull”."
    assert column.startswith("Head 0: ")
    assert above.startswith("Point at a head")
    assert left == above


def test_the_same_as_text(seen, flow):
    assert seen["label"].startswith("Flow of attention through 2 layers of 2 heads")
    assert "Tokens with most attention: " in seen["label"]
    head, *rows = seen["table"]
    assert head == ["token", "score", "head 0", "head 1"]
    assert [row[0] for row in rows] == TOKENS
    assert [float(row[1]) for row in rows] == pytest.approx(flow.scores, rel=0.01)


def test_paths_to_a_token_are_those_of_all_paths(seen, flow):
    """By enumeration: what goes along a line and ends at the last token is the sum over all paths through it."""
    sums: dict[tuple[int, int, int], float] = {}
    for top, middle, bottom in itertools.product(range(4), repeat=3):
        amount = flow.readout[top] * flow.weights[1, 1, top, middle] * flow.weights[0, 1, middle, bottom]
        if bottom == 3:
            for line in ((1, top, middle), (0, middle, bottom)):
                sums[line] = sums.get(line, 0) + amount
    found = {(level, query, key): amount for level, query, key, amount in seen["paths"] if amount}
    assert found == pytest.approx(sums, abs=2e-4)


def test_several_frames_on_one_page(tmp_path, flow):
    """Each frame tells its page what it shows."""
    frames = []
    for one in (flow, made(["a", "b"], 3, 1)):
        tell = 'parent.postMessage(document.querySelectorAll("button").length, "*");'
        frames.append(
            as_frame(one).replace("&lt;/script&gt;&lt;/body&gt;", f"{escape(tell)}&lt;/script&gt;&lt;/body&gt;")
        )
    page = (
        '<body><pre id="outcome">[]</pre><script>const told = []; addEventListener("message", ({ data }) => {'
        'told.push(data); document.getElementById("outcome").textContent = JSON.stringify(told); });</script>'
    )
    assert sorted(outcome(page + "".join(frames), tmp_path, "--virtual-time-budget=3000")) == [3, 6]


def test_a_large_flow_does_not_freeze(tmp_path):
    script = (
        POINT
        + """
    const data = JSON.parse(document.getElementById("data").textContent);
    const painted = (figure) =>
      figure.querySelectorAll("canvas").forEach((one) => one.getContext("2d").getImageData(0, 0, 1, 1));
    const timed = (figure, work) => {
      const begin = performance.now();
      work();
      painted(figure); // reading a pixel waits until all is drawn
      return performance.now() - begin;
    };
    const again = document.body.appendChild(document.createElement("figure"));
    const drawn = timed(again, () => draw(again, data));
    const first = document.getElementById("flow");
    const heads = all("#flow button.head").map((one) => timed(first, () => point(one)));
    const tokens = all("#flow button.token").map((one) => timed(first, () => point(one)));
    return { drawn, heads, tokens };
    """
    )
    spent = outcome(with_script(as_html(large()), script), tmp_path)
    assert (len(spent["heads"]), len(spent["tokens"])) == (12, 60)
    middle = {name: sorted(spent[name])[len(spent[name]) // 2] for name in ("heads", "tokens")}
    assert spent["drawn"] < 2000  # a twentieth of these, and less, where nothing else runs
    assert middle["heads"] < 300
    assert middle["tokens"] < 600
