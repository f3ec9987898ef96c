#!/usr/bin/python3
"""Trains web/page/models/induction: two layers of attention alone, which learn to continue what repeats.

    web/page/models/train/induction.py --steps 6000 --seed 1        two minutes
"""

import argparse
import json
import math
import time
from pathlib import Path

import torch

from bpe import write_tokenizer
from export import save_model
from model import Config, Gpt2, optimizer, sinusoids, step, warm_cosine

# A token is a character; what is none of these is "?".
CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 ?"
TOKENS, ROWS = 64, 16
RATE = 1.5e-3


def batch(rows: int, tokens: int, generator: torch.Generator):
    """Random characters that repeat with a period of each row's own; the loss is taken where they do."""
    periods = torch.randint(4, tokens // 2 + 1, (rows, 1), generator=generator)
    drawn = torch.randint(len(CHARACTERS), (rows, tokens + 1), generator=generator)
    at = torch.arange(tokens + 1)
    text = drawn.gather(1, at % periods)
    targets = text[:, 1:].masked_fill(at[1:] < periods, -100)
    return text[:, :-1], targets, None


@torch.no_grad()
def attention_only(config: Config) -> Gpt2:
    """A GPT-2 whose feed-forward parts are zero and stay so."""
    model = Gpt2(config, token_std=0.125)
    for block in model.h:
        for parameter in [*block.mlp.parameters(), *block.ln_2.parameters()]:
            parameter.requires_grad_(False)
        for parameter in block.mlp.parameters():
            parameter.zero_()
    model.wpe.weight.copy_(sinusoids(config.n_positions, config.n_embd, 0.18))
    return model


def tokenizer_json() -> dict:
    """A BPE without merges: every character is a token."""
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": {"type": "Fuse"},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": "?",
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "vocab": {character: id for id, character in enumerate(CHARACTERS)},
            "merges": [],
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent.parent / "induction")
    options = parser.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    generator = torch.Generator().manual_seed(options.seed)
    model = attention_only(Config(len(CHARACTERS), TOKENS, n_embd=64, n_layer=2, n_head=8, n_inner=4))
    adam = optimizer(model, RATE, decay=0.01)
    mean = math.log(len(CHARACTERS))
    for done in range(options.steps):
        rate = warm_cosine(done, done / options.steps, RATE)
        mean = 0.98 * mean + 0.02 * step(model, adam, rate, batch(ROWS, TOKENS, generator))
        if (done + 1) % 500 == 0:
            print(f"step {done + 1}: loss {mean:.3f}", flush=True)
    save_model(options.out, model)
    write_tokenizer(options.out, tokenizer_json(), {"unk_token": "?"})
    processor = round(time.process_time() / 60, 1)
    run = {"steps": options.steps, "processor_minutes": processor, "seed": options.seed, "loss": round(mean, 3)}
    (options.out / "training.json").write_text(json.dumps(run, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
