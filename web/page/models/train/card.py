#!/usr/bin/python3
"""Renews the measured parts of a model's README.md: training.json, scores.json, and continuations drawn anew.

    web/page/models/train/card.py web/page/models/austen

Each part stands between <!-- name --> and <!-- /name -->.
"""

import json
import sys
from pathlib import Path

import torch

import bpe
from export import load_model
from induction import CHARACTERS
from scores import table

PROMPTS = ["It is a truth universally acknowledged, that", '"My dear Mr. Bennet," said', "Captain Wentworth", ""]
REPEATED = ["headwiseheadwisehead", "3141592 3141592 31"]
NEW_TOKENS, TEMPERATURE, TOP_K, SEED = 80, 0.8, 40, 1


def quoted(prompt: str, continuation: str) -> str:
    lines = f"**{prompt}**{continuation}" if prompt else continuation
    return "\n>\n".join(f"> {line}" for line in lines.split("\n"))


def text_samples(folder: Path, tokenizer: bpe.Tokenizer) -> str:
    """One continuation of each prompt behind <|endoftext|>, as drawn."""
    model = load_model(folder)
    generator = torch.Generator().manual_seed(SEED)
    samples = []
    for prompt in PROMPTS:
        start = [tokenizer.end_of_text, *tokenizer.encode(prompt)]
        ids = model.generate(start, NEW_TOKENS, TEMPERATURE, TOP_K, generator)
        samples.append(quoted(prompt, tokenizer.decode(ids[len(start) :]).rstrip()))
    return f"Temperature {TEMPERATURE}, top {TOP_K}, seed {SEED}:\n\n" + "\n\n---\n\n".join(samples)


def character_samples(folder: Path) -> str:
    """Greedy continuations of what repeats."""
    model = load_model(folder)
    lines = []
    for prompt in REPEATED:
        ids = model.generate([CHARACTERS.index(character) for character in prompt], 16)
        lines.append(f"{prompt} → {''.join(CHARACTERS[id] for id in ids[len(prompt) :])}")
    return "```\n" + "\n".join(lines) + "\n```"


def main(folder: Path) -> None:
    torch.set_num_threads(1)
    training, scores = (json.loads((folder / name).read_text()) for name in ("training.json", "scores.json"))
    tokenizer = bpe.Tokenizer.load(folder)
    first, again = scores["loss_first"], scores["loss_again"]
    losses = f"Loss on random tokens, in nats: {first} the first time, {again} when they come again."
    parts = {
        "training": "\n".join(f"- {name.replace('_', ' ')}: {value}" for name, value in training.items()),
        "scores": f"{table(scores['heads'])}\n\n{losses}",
        "samples": text_samples(folder, tokenizer) if tokenizer.merges else character_samples(folder),
    }
    card = (folder / "README.md").read_text(encoding="utf-8")
    for name, part in parts.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        before, after = card.split(begin)
        card = before + begin + part + "\n" + end + after.split(end)[1]
    (folder / "README.md").write_text(card, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
