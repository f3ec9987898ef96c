#!/usr/bin/python3
"""What each head of a model does, as numbers between 0 and 1 unless said otherwise.

    web/page/models/train/scores.py web/page/models/austen

Prints a table and writes scores.json into the folder. Of a text (the held-out part of the novels, windows of 256 tokens
behind <|endoftext|>; for a model of characters random ones), means over all queries but the first:

    previous      weight on the token before
    first         weight on the first token
    punctuation   weight on tokens without letter or digit (the first token is not counted)
    distance      how many tokens back the weight lies
    entropy       of the weights, in nats

Of random tokens that are repeated once, means over the second time:

    same          weight on the token's own first occurrence
    induction     weight on the token behind that: the one that comes next
"""

import json
import math
import sys
from pathlib import Path

import torch

import bpe
from export import load_model
from model import Gpt2
from texts import novels
from train import split

WINDOWS, TOKENS = 32, 256
SEQUENCES = 32
SEED = 1


def held_out_windows(tokenizer: bpe.Tokenizer) -> torch.Tensor:
    """[windows, tokens] of text that the model was not trained on."""
    _, text = split(novels())
    ids = torch.tensor(tokenizer.encode(text))
    starts = torch.linspace(0, len(ids) - TOKENS, WINDOWS).long()
    windows = torch.stack([ids[at : at + TOKENS - 1] for at in starts])
    return torch.cat([torch.full((WINDOWS, 1), tokenizer.end_of_text), windows], 1)


def random_tokens(model: Gpt2, count: int) -> torch.Tensor:
    """[sequences, count], no token twice in one."""
    generator = torch.Generator().manual_seed(SEED)
    rows = [torch.randperm(model.config.vocab_size - 1, generator=generator)[:count] for _ in range(SEQUENCES)]
    return torch.stack(rows)


def text_scores(model: Gpt2, ids: torch.Tensor, is_punctuation: torch.Tensor) -> dict[str, torch.Tensor]:
    """Each score as [layers, heads]. is_punctuation: of each id of the vocabulary, 0 or 1."""
    count = ids.shape[1]
    back = (torch.arange(count)[:, None] - torch.arange(count)).clamp(min=0).float()
    marks = is_punctuation[ids].float()
    marks[:, 0] = 0
    sums: dict[str, torch.Tensor] = {}
    for row, row_marks in zip(ids, marks):
        weights = torch.cat(model(row[None])[1])[:, :, 1:]
        means = {
            "previous": weights.diagonal(0, -2, -1).mean(-1),
            "first": weights[..., 0].mean(-1),
            "punctuation": (weights @ row_marks).mean(-1),
            "distance": (weights * back[1:]).sum(-1).mean(-1),
            "entropy": -(weights * weights.clamp(min=1e-30).log()).sum(-1).mean(-1),
        }
        sums = {name: sums.get(name, 0) + mean / len(ids) for name, mean in means.items()}
    return sums


def repeat_scores(model: Gpt2, ids: torch.Tensor) -> dict[str, torch.Tensor]:
    """Each score as [layers, heads], and the loss in nats on the tokens' second time. ids: [sequences, tokens]."""
    count = ids.shape[1]
    twice = torch.cat([ids, ids], 1)
    logits, maps = model(twice)
    weights = torch.stack(maps)
    scores = {
        "same": weights.diagonal(-count, -2, -1).mean((1, 3)),
        "induction": weights.diagonal(1 - count, -2, -1)[..., 1:].mean((1, 3)),
    }
    ahead = logits[:, count - 1 : -1].log_softmax(-1).gather(-1, twice[:, count:, None])
    first = logits[:, : count - 1].log_softmax(-1).gather(-1, twice[:, 1:count, None])
    return {**scores, "loss_first": -first.mean(), "loss_again": -ahead.mean()}


def punctuation(tokenizer: bpe.Tokenizer) -> torch.Tensor:
    """Of each id whether its token has neither letter nor digit, and is not a space alone."""
    texts = [tokenizer.decode([id]) for id in range(len(tokenizer.tokens))]
    return torch.tensor([text != " " and not any(character.isalnum() for character in text) for text in texts])


def head_scores(folder: Path) -> dict:
    """heads: a list of layers of heads of scores; and of random tokens the loss at first and again, in nats."""
    model = load_model(folder)
    tokenizer = bpe.Tokenizer.load(folder)
    with torch.no_grad():
        if tokenizer.merges:
            scores = text_scores(model, held_out_windows(tokenizer), punctuation(tokenizer))
        else:
            ids = random_tokens(model, model.config.n_positions - 1)
            scores = text_scores(model, ids, torch.zeros(model.config.vocab_size))
            del scores["punctuation"]
        repeats = repeat_scores(model, random_tokens(model, min(64, model.config.n_positions // 2)))
    losses = {name: round(float(repeats.pop(name)), 3) for name in ("loss_first", "loss_again")}
    scores |= repeats

    def of_head(layer: int, head: int) -> dict[str, float]:
        return {name: round(float(values[layer, head]), 3) for name, values in scores.items()}

    heads = [[of_head(layer, head) for head in range(model.config.n_head)] for layer in range(model.config.n_layer)]
    return {"heads": heads, **losses}


def table(heads: list[list[dict[str, float]]]) -> str:
    """Markdown. Layers and heads are counted from 0, as in the weights' names."""
    names = list(heads[0][0])
    lines = ["| head | " + " | ".join(names) + " |", "| --- |" + " ---: |" * len(names)]
    for layer, row in enumerate(heads):
        for head, scores in enumerate(row):
            lines.append(f"| L{layer}H{head} | " + " | ".join(f"{scores[name]:.2f}" for name in names) + " |")
    return "\n".join(lines)


def main(folder: Path) -> None:
    torch.set_num_threads(1)
    scores = head_scores(folder)
    (folder / "scores.json").write_text(json.dumps(scores) + "\n", encoding="utf-8")
    print(table(scores["heads"]))
    print(f"\nrandom tokens: {scores['loss_first']} nats at first, {scores['loss_again']} again")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
