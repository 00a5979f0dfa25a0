"""Charts, listings, tables and the alternative text, without looking at pixels."""

import io
import re
from types import SimpleNamespace

import pytest
from PIL import Image

from course_lib import plots
from course_lib.plots import style
from course_lib.run import counter_name
from course_lib.run.listing import INSTRUCTIONS

SECTORS, REQUESTS = counter_name("sectors", "load"), counter_name("requests", "load")


def test_bars_keep_order_and_print_values():
    ax = plots.bars({"b": 8.5, "a": 2.0, "c": 1234.5}, unit="sectors", title="T")
    assert [b.get_width() for b in ax.patches] == [8.5, 2.0, 1234.5]
    assert [t.get_text() for t in ax.texts] == ["8.5", "2", "1,234"]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["b", "a", "c"]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]


def test_lines_draw_counted_and_predicted_on_log_axes():
    ax = plots.lines([4, 8, 16], {"counted": [0.0625, 0.03125, 0.015625]}, xlabel="tile", ylabel="y", log=True,
                     predicted={"formula": [0.0625, 0.03125, 0.015625]})
    assert ax.get_xscale() == ax.get_yscale() == "log"
    by_label = {line.get_label(): line for line in ax.lines}
    assert by_label["counted"].get_linestyle() == "None"
    assert by_label["formula"].get_linestyle() == "--"
    assert by_label["counted"].get_ydata().tolist() == [0.0625, 0.03125, 0.015625]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["4", "8", "16"]


def test_two_predictions_of_one_series_differ_in_their_dashes():
    def drawn(series, **predicted):
        found = plots.lines([1, 2], dict.fromkeys(series, [4, 2]), xlabel="x", ylabel="y", predicted=predicted).lines
        return {line.get_label(): (line.get_color(), line.get_linestyle()) for line in found}
    looks = drawn(["counted"], one=[4, 2], other=[4, 1])
    assert (looks["one"][1], looks["other"][1]) == ("--", ":")
    assert looks["counted"][0] not in (looks["one"][0], looks["other"][0])
    pairs = drawn(["a", "b"], formula=[4, 2], other=[4, 1])
    assert (pairs["formula"], pairs["other"]) == ((pairs["a"][0], "--"), (pairs["b"][0], "--"))


def test_no_line_of_the_grid_runs_through_the_legend():
    frame = plots.lines([1, 2], {"a": [4, 2]}, xlabel="x", ylabel="y", log=True).get_legend().get_frame()
    assert frame.get_visible()
    assert frame.get_alpha() == 1


def test_drawing_leaves_matplotlib_alone():
    import matplotlib
    before = dict(matplotlib.rcParams)
    plots.render(plots.bars({"a": 1}, unit="u"), "one bar")
    assert dict(matplotlib.rcParams) == before


def test_a_picture_carries_its_words_and_is_small():
    picture = plots.render(plots.bars({"a": 1, "b": 2}, unit="u"), 'b is twice "a"')
    assert 'alt="b is twice &quot;a&quot;"' in picture._repr_html_()
    assert repr(picture) == '[figure: b is twice "a"]'
    assert (picture.kind, picture.size) == ("svg+xml", (900, 304))
    assert b'viewBox="0 0 648 218.88"' in picture.data, "72 points are 100 pixels"
    assert len(picture.data) < 20_000


def test_a_picture_has_both_themes_and_takes_the_one_of_the_page():
    picture = plots.render(plots.bars({"a": 1, "b": 2}, unit="u"), "two bars")
    text = picture.data.decode()
    assert "@media (prefers-color-scheme:dark)" in text
    assert "var(--c222222)" in text, "ink follows the theme"
    assert style.BLUE.lower() in text, "a colour that words may name does not"
    found = picture._repr_html_()
    assert re.search(r"\[data-jp-theme-light=false\] .wbw-zoom[^{]*{color-scheme:dark}", found)
    assert "filter" not in found
    assert "max-width:100%" in found


def test_a_picture_opens_in_full_screen_without_a_program():
    found = plots.render(plots.bars({"a": 1}, unit="u"), "one bar")._repr_html_()
    name = re.search(r'<span class="wbw-zoom" id="(wbw-[\w-]+)" popover>', found)[1]
    assert f'<button class="wbw-enlarge" popovertarget="{name}" aria-label=' in found
    assert "<script" not in found
    assert name not in plots.render(plots.bars({"a": 1}, unit="u"), "one bar")._repr_html_(), "the same picture twice on a page"


@pytest.mark.parametrize(("colour", "why"), [("#5f1a00", "dark paper would swallow it"), (None, "pixels have no theme")])
def test_a_picture_that_has_no_dark_colours_of_its_own_keeps_white_paper(colour, why):
    ax = style.axes(width=3, height=2)
    if colour:
        ax.plot([0, 1], color=colour)
    else:
        ax.imshow([[0, 1], [2, 3]])
    text = plots.render(ax, "a picture").data.decode()
    assert "prefers-color-scheme" not in text, why
    assert '<rect width="100%" height="100%" fill="white"/>' in text


@pytest.mark.slow
def test_the_same_figure_gives_the_same_bytes_and_one_of_thousands_of_parts_is_a_png():
    one, other = (plots.render(plots.bars({"a": 1}, unit="u"), "one") for _ in range(2))
    assert one == other
    ax = plots.bars({f"{i}": i + 1 for i in range(700)}, unit="u")
    picture = plots.render(ax, "many", small=False)
    assert picture.kind == "png"
    assert Image.open(io.BytesIO(picture.data)).size == picture.size


def test_figures_of_committed_notebooks_are_small_pngs(monkeypatch):
    monkeypatch.setenv("COURSE_FIGURES", "png")
    picture = plots.render(plots.bars({"a": 1, "b": 2}, unit="u"), "two bars")
    assert picture.kind == "png"
    assert len(picture.data) < 20_000
    assert 'src="data:image/png;base64,' in picture._repr_html_()


def test_a_small_picture_keeps_the_colours_of_areas(monkeypatch):
    monkeypatch.setenv("COURSE_FIGURES", "png")
    ax = plots.bars({"a": 1}, unit="u")
    ax.patches[0].set_color("#EDEDED")
    kinds = [plots.render(ax, "grey", small=small) for small in (True, False)]
    images = [Image.open(io.BytesIO(kind.data)).convert("RGB") for kind in kinds]
    x, y = (int(v) for v in ax.transData.transform((0.5, 0)))
    places = (x, images[0].height - y)
    assert images[0].getpixel(places) == images[1].getpixel(places) == (237, 237, 237)
    assert images[0].getpixel((1, 1)) == images[1].getpixel((1, 1)) == (255, 255, 255)


@pytest.mark.parametrize("alt", ["", "  ", None])
def test_a_figure_without_words_is_refused(alt):
    with pytest.raises(ValueError, match="alternative text"):
        plots.render(plots.bars({"a": 1}, unit="u"), alt)


SOURCE = "// a\n__global__ void k() {\n  load\n  none\n}"


def test_listing_sets_counters_beside_lines():
    table = plots.source_listing(SOURCE, {3: {REQUESTS: 4, SECTORS: 34, INSTRUCTIONS: 1200}})
    assert table.header == ("line", "global requests", "sectors / request", "instructions, counted in PTX", "source")
    assert table.rows[1] == ("3", "4", "8.5", "1,200", "  load")
    assert table.rows[2] == ("4", "", "", "", "  none")
    assert table.rows[0][0] == "2"
    assert "<code" in table._repr_html_()
    assert 'scope="col"' in table._repr_html_()


def test_listing_marks_hazard_lines():
    hazard = SimpleNamespace(kind="RAW", address=64, first_line=3, second_line=4, first_thread=(1, 0, 0),
                             second_thread=(2, 0, 0), block=(0, 0, 0), count=12)
    table = plots.source_listing(SOURCE, {}, hazards=[hazard], first=3, last=4)
    assert table.marked == {0, 1}
    assert table.rows[0][-2] == "12"


def test_source_text_is_escaped():
    html = plots.source_listing("a < b && c", {}, first=1)._repr_html_()
    assert "a &lt; b &amp;&amp; c" in html
