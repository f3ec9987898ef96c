"""The text: Jane Austen's six novels (public domain), out of Debian's r-cran-janeaustenr, read without R.

    from texts import novels
    novels()    # {"emma": "EMMA\\nBy Jane Austen\\n…", …}; downloads 1.6 MB by apt-get the first time
"""

import gzip
import re
import struct
import subprocess
import zlib
from pathlib import Path

PACKAGE = "r-cran-janeaustenr"
CACHE = Path(__file__).parent / ".cache"
DATA = CACHE / "usr/lib/R/site-library/janeaustenr/data/Rdata"

# Types of R's serialisation format, "R Internals", 1.8 Serialization Formats.
SYMBOL, PAIRLIST, CHARSXP, LOGICAL, INTEGER, STRINGS, LIST, NIL, REFERENCE = 1, 2, 9, 10, 13, 16, 19, 254, 255
HAS_ATTRIBUTES, HAS_TAG = 1 << 9, 1 << 10


class RReader:
    """Values of R's binary (XDR) serialisation; attributes are kept of lists only, as their names."""

    def __init__(self, data: bytes):
        self.data, self.at, self.symbols = data, 0, []
        assert self.take(2) == b"X\n", "not R's XDR serialisation"
        version = self.int()
        self.at += 8
        if version == 3:
            self.take(self.int())  # the native encoding's name

    def take(self, count: int) -> bytes:
        self.at += count
        return self.data[self.at - count : self.at]

    def int(self) -> int:
        return struct.unpack(">i", self.take(4))[0]

    def pairs(self, flags: int) -> dict:
        """A pairlist, of which `flags` is the first cell's word."""
        found = {}
        while flags & 255 != NIL:
            if flags & HAS_ATTRIBUTES:
                self.value()
            tag = self.value() if flags & HAS_TAG else None
            found[tag] = self.value()
            flags = self.int()
        return found

    def value(self):
        flags = self.int()
        kind = flags & 255
        if kind == NIL:
            return None
        if kind == REFERENCE:
            return self.symbols[(flags >> 8) - 1]
        if kind == SYMBOL:
            self.symbols.append(self.value())
            return self.symbols[-1]
        if kind == CHARSXP:
            length = self.int()
            return None if length < 0 else self.take(length).decode("utf-8")
        if kind == PAIRLIST:
            return self.pairs(flags)
        values = self.vector(kind)
        attributes = self.pairs(self.int()) if flags & HAS_ATTRIBUTES else {}
        return dict(zip(attributes["names"], values)) if "names" in attributes else values

    def vector(self, kind: int) -> list:
        count = self.int()
        if kind in (INTEGER, LOGICAL):
            return list(struct.unpack(f">{count}i", self.take(4 * count)))
        assert kind in (STRINGS, LIST), f"type {kind} of R's serialisation is not read here"
        return [self.value() for _ in range(count)]


def download() -> None:
    """The package's files into CACHE, by Debian's own tools."""
    CACHE.mkdir(exist_ok=True)
    subprocess.run(["apt-get", "download", PACKAGE], cwd=CACHE, check=True)
    (package,) = CACHE.glob(f"{PACKAGE}_*.deb")
    subprocess.run(["dpkg-deb", "-x", package, CACHE], check=True)


def lazy_load(path: Path) -> dict:
    """The variables of R's lazy-load database path.rdx, path.rdb."""
    index = RReader(gzip.decompress(path.with_suffix(".rdx").read_bytes())).value()
    blob = path.with_suffix(".rdb").read_bytes()
    # Each value stands after its unpacked length, four bytes.
    return {
        name: RReader(zlib.decompress(blob[at + 4 : at + length])).value()
        for name, (at, length) in index["variables"].items()
    }


def clean(lines: list[str]) -> str:
    """A paragraph a line; no marks of emphasis, no runs of spaces."""
    text = "\n".join(line.strip() for line in lines).replace("--", "—").replace("_", "")
    paragraphs = (re.sub(r"\s+", " ", part).strip() for part in re.split(r"\n{2,}", text))
    return "".join(f"{paragraph}\n" for paragraph in paragraphs if paragraph)


def novels() -> dict[str, str]:
    if not DATA.with_suffix(".rdb").exists():
        download()
    return {name: clean(lines) for name, lines in sorted(lazy_load(DATA).items())}


if __name__ == "__main__":
    for name, text in novels().items():
        print(f"{name}: {len(text.encode())} bytes, {text.count(chr(10))} paragraphs: {text[:60]!r}")
