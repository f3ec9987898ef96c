"""Byte-level byte-pair encoding as GPT-2 has it: training, encoding, Hugging Face's tokenizer.json.

Ids: the 256 bytes in GPT-2's order, the merges in the order in which they were learnt, then <|endoftext|>.
"""

import json
import re
from collections import Counter, defaultdict
from functools import lru_cache
from pathlib import Path

END_OF_TEXT = "<|endoftext|>"

# GPT-2's pattern with what Python's own `re` has of letters and numbers; on English text it finds the same pieces.
PIECES = re.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?[^\W\d_]+| ?\d+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")

Pair = tuple[str, str]


def byte_characters() -> list[str]:
    """GPT-2's printable character of each byte: itself, or one from U+0100 on."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = (byte for byte in range(256) if byte not in printable)
    stand_ins = {byte: chr(256 + n) for n, byte in enumerate(others)}
    return [stand_ins.get(byte, chr(byte)) for byte in range(256)]


CHARACTERS = byte_characters()
# GPT-2's ids of the bytes: those that are printable first.
BASE = sorted(CHARACTERS, key=ord)


def pieces(text: str) -> list[str]:
    """The text's pieces in byte characters; no token crosses their borders."""
    return ["".join(CHARACTERS[byte] for byte in piece.encode()) for piece in PIECES.findall(text)]


def merged(symbols: list[str], pair: Pair) -> list[str]:
    result = []
    at = 0
    while at < len(symbols):
        if tuple(symbols[at : at + 2]) == pair:
            result.append(symbols[at] + symbols[at + 1])
            at += 2
        else:
            result.append(symbols[at])
            at += 1
    return result


def learn_merges(text: str, count: int) -> list[Pair]:
    """The `count` most frequent pairs, one after another; of equally frequent ones the first in alphabetical order."""
    words = [(list(piece), times) for piece, times in Counter(pieces(text)).items()]
    pairs: Counter[Pair] = Counter()
    places: defaultdict[Pair, set[int]] = defaultdict(set)

    def tally(index: int, sign: int) -> None:
        symbols, times = words[index]
        for pair in zip(symbols, symbols[1:]):
            pairs[pair] += sign * times
            places[pair].add(index)

    for index in range(len(words)):
        tally(index, 1)
    merges = []
    while len(merges) < count:
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(best)
        for index in places.pop(best):
            tally(index, -1)
            words[index] = (merged(words[index][0], best), words[index][1])
            tally(index, 1)
        del pairs[best]
    return merges


def write_tokenizer(folder: Path, tokenizer: dict, config: dict) -> None:
    """Without clean_up_tokenization_spaces false Hugging Face's decoders drop the space in " ." and the like."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(tokenizer, ensure_ascii=False, indent=1)
    (folder / "tokenizer.json").write_text(text + "\n", encoding="utf-8")
    config = {"clean_up_tokenization_spaces": False, **config}
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


class Tokenizer:
    def __init__(self, merges: list[Pair]):
        self.merges = merges
        self.tokens = [*BASE, *("".join(pair) for pair in merges), END_OF_TEXT]
        self.ids = {token: id for id, token in enumerate(self.tokens)}
        self.ranks = {pair: rank for rank, pair in enumerate(merges)}
        self.bytes = {character: byte for byte, character in enumerate(CHARACTERS)}
        self.encode_piece = lru_cache(None)(self._encode_piece)

    @property
    def end_of_text(self) -> int:
        return len(self.tokens) - 1

    def _encode_piece(self, piece: str) -> list[int]:
        symbols = list(piece)
        while len(symbols) > 1:
            best = min(zip(symbols, symbols[1:]), key=lambda pair: self.ranks.get(pair, len(self.ranks)))
            if best not in self.ranks:
                break
            symbols = merged(symbols, best)
        return [self.ids[symbol] for symbol in symbols]

    def encode(self, text: str) -> list[int]:
        return [id for piece in pieces(text) for id in self.encode_piece(piece)]

    def decode(self, ids: list[int]) -> str:
        characters = "".join(self.tokens[id] for id in ids if id != self.end_of_text)
        return bytes(self.bytes[character] for character in characters).decode(errors="replace")

    def save(self, folder: Path) -> None:
        """tokenizer.json and tokenizer_config.json as Hugging Face's GPT-2 has them."""
        level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
        special = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
        model = {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": "",
            "end_of_word_suffix": "",
            "fuse_unk": False,
            "byte_fallback": False,
            "vocab": self.ids,
            "merges": [" ".join(pair) for pair in self.merges],
        }
        tokenizer = {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [{"id": self.end_of_text, "content": END_OF_TEXT, **special}],
            "normalizer": None,
            "pre_tokenizer": level,
            "post_processor": None,
            "decoder": level,
            "model": model,
        }
        write_tokenizer(folder, tokenizer, {"bos_token": END_OF_TEXT, "eos_token": END_OF_TEXT})

    @classmethod
    def load(cls, folder: Path) -> "Tokenizer":
        model = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]
        return cls([tuple(merge.split(" ")) for merge in model["merges"]])


def train(text: str, size: int) -> Tokenizer:
    return Tokenizer(learn_merges(text, size - len(BASE) - 1))
