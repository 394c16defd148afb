"""Line charts as SVG, logarithmic on both axes: small enough to stand inside a page, without any library."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 560, 340
LEFT, RIGHT, TOP, BOTTOM = 70, 150, 34, 48
COLOURS = ("#1f6feb", "#d1242f", "#2da44e", "#8250df", "#bf8700", "#57606a", "#0a7ea4", "#bc4c00")
MARKS = ("circle", "square", "diamond")


@dataclass(frozen=True, slots=True)
class Series:
    """A line: its name and its points, both coordinates above zero."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Axis:
    """A logarithmic axis between two powers of ten."""

    low: int
    high: int
    start: float
    end: float

    @staticmethod
    def over(values: Sequence[float], start: float, end: float) -> "Axis":
        """The axis that holds all values.

        >>> Axis.over([3, 250], 0, 100).place(100)
        66.66666666666666
        """
        low = math.floor(math.log10(min(values)))
        return Axis(low, max(math.ceil(math.log10(max(values))), low + 1), start, end)

    def place(self, value: float) -> float:
        """Where a value stands."""
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> Iterator[tuple[float, str]]:
        """The powers of ten, and how they are written."""
        for power in range(self.low, self.high + 1):
            yield self.place(10.0**power), f"{10**power:,}" if power >= 0 else f"{10.0**power:.{-power}f}"


def chart(title: str, x: str, y: str, lines: Sequence[Series]) -> str:
    """Return the chart of some lines, of which those without points only keep their colour; nothing to draw is a chart that says so.

    >>> "<circle" in chart("t", "facts", "seconds", [Series("a", ((1, 2), (10, 30)))])
    True
    """
    points = [point for line in lines for point in line.points]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img" aria-label="{escape(title, quote=True)}" font-family="sans-serif" font-size="11">'
    )
    parts = [head, f'<text x="{LEFT}" y="18" font-size="13" font-weight="bold">{escape(title)}</text>']
    if not points:
        parts.append(f'<text x="{LEFT}" y="{HEIGHT // 2}" fill="#57606a">not measured yet</text>')
        return "\n".join([*parts, "</svg>"])
    across = Axis.over([p[0] for p in points], LEFT, WIDTH - RIGHT)
    upwards = Axis.over([p[1] for p in points], HEIGHT - BOTTOM, TOP)
    parts += _frame(across, upwards, x, y)
    shown = [(number, line) for number, line in enumerate(lines) if line.points]
    for row, (number, line) in enumerate(shown):
        parts += _line(line, number, row, across, upwards)
    return "\n".join([*parts, "</svg>"])


def _frame(across: Axis, upwards: Axis, x: str, y: str) -> Iterator[str]:
    for place, text in across.ticks():
        yield f'<line x1="{place:.1f}" x2="{place:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}" stroke="#d0d7de"/>'
        yield f'<text x="{place:.1f}" y="{HEIGHT - BOTTOM + 15}" text-anchor="middle">{text}</text>'
    for place, text in upwards.ticks():
        yield f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{place:.1f}" y2="{place:.1f}" stroke="#d0d7de"/>'
        yield f'<text x="{LEFT - 6}" y="{place + 4:.1f}" text-anchor="end">{text}</text>'
    middle = (LEFT + WIDTH - RIGHT) / 2
    yield f'<text x="{middle}" y="{HEIGHT - 12}" text-anchor="middle">{escape(x)}</text>'
    centre = (TOP + HEIGHT - BOTTOM) / 2
    yield f'<text x="14" y="{centre}" text-anchor="middle" transform="rotate(-90 14 {centre})">{escape(y)}</text>'


def _line(line: Series, number: int, row: int, across: Axis, upwards: Axis) -> Iterator[str]:
    """A line in the colour that its number has in all charts, and its row of the legend."""
    colour = COLOURS[number % len(COLOURS)]
    places = [(across.place(a), upwards.place(b)) for a, b in sorted(line.points)]
    path = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
    yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
    mark = MARKS[number % len(MARKS)]
    yield from (_mark(mark, a, b, colour) for a, b in places)
    height = TOP + 10 + 18 * row
    yield _mark(mark, WIDTH - RIGHT + 16, height, colour)
    yield f'<text x="{WIDTH - RIGHT + 26}" y="{height + 4}">{escape(line.name)}</text>'


def _mark(kind: str, x: float, y: float, colour: str) -> str:
    """A point whose form tells its line as well as its colour does."""
    if kind == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>'
    turned = f' transform="rotate(45 {x:.1f} {y:.1f})"' if kind == "diamond" else ""
    return f'<rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7" fill="{colour}"{turned}/>'
