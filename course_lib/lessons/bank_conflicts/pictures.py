"""What the sliders show: the words that one warp wants of the tile, over the 32 banks."""


from matplotlib.axes import Axes

from course_lib.plots import bank_map, describe_banks, requests, style
from course_lib.run import LaunchResult
from course_lib.widgets.live_pictures import retraced

WIDTH, HEIGHT = 6.6, 4.2          # inches: sliders and picture fit into 600 pixels


def loads(result: LaunchResult) -> tuple[Axes, str]:
    """Draw a warp's first load from the tile of a launch; return (Axes, alternative text)."""
    return _drawn(result, load=True)


def stores(result: LaunchResult) -> tuple[Axes, str]:
    """Draw a warp's first store to the tile of a launch; return (Axes, alternative text)."""
    return _drawn(result, load=False)


def _drawn(result, load):
    record = requests(retraced(result), array="tile", load=load, space="shared")[0]
    return bank_map(record, style.axes(width=WIDTH, height=HEIGHT)), describe_banks(record)
