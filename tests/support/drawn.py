"""What a figure shows, for tests that compare it with the numbers."""

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle


def rectangles(axes: Axes) -> list[Rectangle]:
    """The patches of `axes`, which are all rectangles."""
    patches = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert len(patches) == len(axes.patches)
    return patches
