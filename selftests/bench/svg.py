# SPDX-License-Identifier: LGPL-2.1 OR MIT
"""Line plots as SVG, with nothing but Python."""

import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, TOP, BOTTOM = 80, 150, 40, 60
COLOURS = ("#0b5fa5", "#c23b22", "#2e8b57", "#8e44ad", "#d68910", "#555555", "#16a085")
DASHES = ("", "6 3", "2 3", "8 3 2 3", "", "6 3", "2 3")


class Axis:
    """Values to pixels, linear or logarithmic, with ticks."""

    def __init__(self, values, first, last, log):
        self.log = log and min(values) > 0
        self.low, self.high = min(values), max(values)
        if not self.log:
            self.low = min(0, self.low)
        if self.low == self.high:
            self.high = self.low + 1
        self.first, self.last = first, last

    def _scale(self, x):
        return math.log2(x) if self.log else x

    def at(self, x):
        """Pixel of a value."""
        part = (self._scale(x) - self._scale(self.low)) / (
            self._scale(self.high) - self._scale(self.low))
        return self.first + part * (self.last - self.first)

    def ticks(self):
        """Values to be marked."""
        if self.log:
            low, high = math.ceil(math.log2(self.low)), math.floor(math.log2(self.high))
            step = max(1, (high - low) // 8 + 1)
            return [2.0 ** k for k in range(low, high + 1, step)]
        step = 10 ** math.floor(math.log10(self.high - self.low))
        while (self.high - self.low) / step > 8:
            step *= 2
        while (self.high - self.low) / step < 4:
            step /= 2
        count = int((self.high - self.low) / step + 1e-9)
        return [self.low + k * step for k in range(count + 1)]


def text_of(x):
    """A tick's label."""
    for limit, unit in ((1 << 20, "M"), (1 << 10, "K")):
        if x >= limit and x % limit == 0:
            return f"{x / limit:g}{unit}"
    return f"{x:,.10g}"


def _frame(title, xlabel, ylabel, x, y):
    out = [f'<text x="{LEFT}" y="24" font-size="15">{escape(title)}</text>']
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    for v in x.ticks():
        out.append(f'<line x1="{x.at(v):.1f}" x2="{x.at(v):.1f}" y1="{TOP}" y2="{bottom}" '
                   'stroke="#ddd"/>')
        out.append(f'<text x="{x.at(v):.1f}" y="{bottom + 18}" '
                   f'text-anchor="middle">{text_of(v)}</text>')
    for v in y.ticks():
        out.append(f'<line x1="{LEFT}" x2="{right}" y1="{y.at(v):.1f}" y2="{y.at(v):.1f}" '
                   'stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 6}" y="{y.at(v) + 4:.1f}" '
                   f'text-anchor="end">{text_of(v)}</text>')
    out.append(f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 16}" '
               f'text-anchor="middle">{escape(xlabel)}</text>')
    out.append(f'<text transform="translate(18 {(TOP + bottom) / 2}) rotate(-90)" '
               f'text-anchor="middle">{escape(ylabel)}</text>')
    return out


def _line(n, name, points, x, y):
    colour, dash = COLOURS[n % len(COLOURS)], DASHES[n % len(DASHES)]
    path = " ".join(f"{x.at(a):.1f},{y.at(b):.1f}" for a, b in points)
    at = TOP + 16 + 20 * n
    right = WIDTH - RIGHT + 12
    return [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2" '
            f'stroke-dasharray="{dash}"/>'] + [
        f'<circle cx="{x.at(a):.1f}" cy="{y.at(b):.1f}" r="2.5" fill="{colour}"/>'
        for a, b in points if len(points) < 25] + [
        f'<line x1="{right}" x2="{right + 24}" y1="{at - 4}" y2="{at - 4}" '
        f'stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>',
        f'<text x="{right + 30}" y="{at}">{escape(name)}</text>']


def plot(path, title, xlabel, ylabel, series, logx=True, logy=True):
    """series: {name: [(x, y), ...]}; one without points is left out."""
    series = {k: v for k, v in series.items() if v}
    if not series:
        return
    x = Axis([a for p in series.values() for a, _ in p], LEFT, WIDTH - RIGHT, logx)
    y = Axis([b for p in series.values() for _, b in p], HEIGHT - BOTTOM, TOP, logy)
    out = ['<?xml version="1.0" encoding="UTF-8"?>',
           "<!-- SPDX-License-Identifier: LGPL-2.1 OR MIT -->",
           f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
           f'width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    out += _frame(title, xlabel, ylabel, x, y)
    for n, (name, points) in enumerate(series.items()):
        out += _line(n, name, points, x, y)
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(out + ["</svg>", ""]))
