"""Give an SVG that was drawn for white paper a dark theme of its own.

Colours that a text may name (blue, orange, yellow …) stay what they are. What has no hue, such as ink, grey lines and paper, and pale tints
swap light and dark; so ink stays readable on paper and on a tint, and what is written on a strong colour has a fixed black or white
(`style.text_on`).
"""

import colorsys
import re

FIXED_BLACK, FIXED_WHITE = "#010101", "#fefefe"     # as good as black and white, and the same in both themes
PAPER_WHITE, PAPER_DARK, INK_DARK = 255, 17, 250    # levels of grey: paper, paper of dark themes (JupyterLab's #111), ink there
PALE = 0.7                # lightness above which a colour is a tint of the paper
TOO_DARK = 0.25           # lightness below which a colour with a hue cannot be told from dark paper
COLOUR = re.compile(r"(?<=fill: |roke: )#[0-9a-f]{6}\b")


def flips(colour: str) -> bool:
    """Say whether a colour swaps light and dark with the theme.

    >>> [flips(colour) for colour in ("#222222", "#bfddf0", "#0072b2", "#f0e442", "#010101")]
    [True, True, False, False, False]
    """
    red, green, blue = levels(colour)
    return colour.lower() not in (FIXED_BLACK, FIXED_WHITE) and (red == green == blue or lightness(colour) > PALE)


def levels(colour: str) -> tuple[int, ...]:
    """Return red, green and blue, 0 to 255."""
    return tuple(bytes.fromhex(colour[1:]))


def lightness(colour: str) -> float:
    """Return the lightness of a colour, 0 to 1: the mean of its greatest and least part."""
    return (max(levels(colour)) + min(levels(colour))) / 510


def dark(colour: str) -> str:
    """Return what a colour is on dark paper.

    >>> [dark(colour) for colour in ("#ffffff", "#000000", "#bfddf0", "#0072b2")]
    ['#111111', '#fafafa', '#0f2d40', '#0072b2']
    """
    if not flips(colour):
        return colour
    red, green, blue = levels(colour)
    if red == green == blue:
        return "#" + f"{round(PAPER_DARK + (PAPER_WHITE - red) / PAPER_WHITE * (INK_DARK - PAPER_DARK)):02x}" * 3
    hue, light, saturation = colorsys.rgb_to_hls(red / 255, green / 255, blue / 255)
    return "#" + "".join(f"{round(255 * part):02x}" for part in colorsys.hls_to_rgb(hue, 1 - light, saturation))


def themed(svg: str) -> str:
    """Give an SVG paper, and both themes where its colours allow that.

    One with pixels in it, or with colours that dark paper would swallow, keeps white paper in every theme.
    """
    svg = re.sub(r' fill="(#[0-9a-f]{6})"', r' style="fill: \1"', svg)        # an attribute knows no variables
    colours = sorted(set(COLOUR.findall(svg)) | {"#000000"})
    fixed = "<image" in svg or any(not flips(colour) and colour != FIXED_BLACK and lightness(colour) < TOO_DARK for colour in colours)
    if fixed:
        return re.sub(r"(<svg[^>]*>)", r'\1<rect width="100%" height="100%" fill="white"/>', svg, count=1)
    swapped = {colour: f"--c{colour[1:]}" for colour in colours if flips(colour)}
    named = COLOUR.sub(lambda found: f"var({swapped[found[0]]})" if found[0] in swapped else found[0], svg)
    light_values, dark_values = (";".join(f"{name}:{of(colour)}" for colour, name in swapped.items()) for of in (str, dark))
    paper = (f"<style>svg{{fill:var(--c000000);--paper:#ffffff;{light_values}}}"
             f"@media (prefers-color-scheme:dark){{svg{{--paper:{dark('#ffffff')};{dark_values}}}}}</style>"
             '<rect width="100%" height="100%" style="fill: var(--paper)"/>')
    return re.sub(r"(<svg[^>]*>)", lambda found: found[0] + paper, named, count=1)
