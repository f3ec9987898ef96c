#!/usr/bin/python3
"""Trains web/page/models/austen, a GPT-2 of 1.3 million parameters, on Jane Austen's novels.

    web/page/models/train/train.py --minutes 80 --seed 1

The same seed gives the same start and the same batches; how far it comes and the learning rate go by the clock.
Every two minutes the model is saved as it is; --resume goes on from there, for what is left of the minutes.
"""

import argparse
import json
import math
import time
from pathlib import Path

import torch

import bpe
from batches import Batches, Text
from export import load_model, save_model
from model import Config, Gpt2, optimizer, sinusoids, step, warm_cosine
from texts import novels

CONFIG = Config(vocab_size=2048, n_positions=2048, n_embd=128, n_layer=4, n_head=8, n_inner=512)
# The end of each novel is kept from training, to tell how well the model does on text it has not seen.
HELD_OUT = 0.05
# From these shares of the time on, tokens of a step, and of a row one of. Among few tokens heads find the one before
# sooner, and attention costs less.
PHASES = [
    (0.0, 512, [32]),
    (0.15, 512, [64]),
    (0.4, 1024, [128]),
    (0.7, 1024, [256]),
    (0.92, 2048, [512, 1024, 1024, 2048]),
]
PEAK_RATE = 3e-3


def split(texts: dict[str, str]) -> tuple[str, str]:
    """The parts to train on and the parts held out, cut at paragraphs."""
    train, held_out = [], []
    for text in texts.values():
        cut = text.index("\n", round(len(text) * (1 - HELD_OUT))) + 1
        train.append(text[:cut])
        held_out.append(text[cut:])
    return "".join(train), "".join(held_out)


def held_out_loss(model: Gpt2, ids: torch.Tensor, tokens: int, windows: int | None = None) -> float:
    """Nats per token over windows that do not overlap: all, or so many evenly spread."""
    starts = torch.arange(0, len(ids) - tokens, tokens)
    if windows:
        starts = starts[torch.linspace(0, len(starts) - 1, windows).long()]
    with torch.no_grad():
        losses = [model.loss(ids[None, at : at + tokens], ids[None, at + 1 : at + tokens + 1]) for at in starts]
    return sum(map(float, losses)) / len(losses)


def next_batch(progress: float, batches: Batches):
    """A batch as this share of the time wants it."""
    _, step_tokens, lengths = max(phase for phase in PHASES if phase[0] <= progress)
    tokens = lengths[batches.whole(0, len(lengths) - 1)]
    return batches.batch(step_tokens // tokens, tokens)


def prepare(folder: Path) -> tuple[bpe.Tokenizer, torch.Tensor, torch.Tensor, float]:
    """The tokenizer, saved into the folder; ids to train on, ids held out, bytes per held-out token."""
    train, held_out = split(novels())
    tokenizer = bpe.train(train, CONFIG.vocab_size)
    tokenizer.save(folder)
    ids, held_out_ids = (torch.tensor(tokenizer.encode(text)) for text in (train, held_out))
    print(f"{len(ids)} tokens to train on, {len(held_out_ids)} held out", flush=True)
    return tokenizer, ids, held_out_ids, len(held_out.encode()) / len(held_out_ids)


def begin(folder: Path, resume: bool) -> tuple[Gpt2, dict]:
    """The model to train, and what its training was until now."""
    if resume:
        return load_model(folder).train(), json.loads((folder / "training.json").read_text(encoding="utf-8"))
    model = Gpt2(CONFIG)
    with torch.no_grad():
        model.wpe.weight.copy_(sinusoids(CONFIG.n_positions, CONFIG.n_embd, 0.07))
    return model, {"steps": 0, "tokens": 0, "minutes": 0, "processor_minutes": 0}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=80)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--resume", action="store_true", help="the optimizer's moments begin anew")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent.parent / "austen")
    options = parser.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    tokenizer, ids, held_out, bytes_per_token = prepare(options.out)
    model, before = begin(options.out, options.resume)
    adam = optimizer(model, PEAK_RATE, decay=0.1)
    text = Text(ids, newline=tokenizer.encode("\n")[0], end_of_text=tokenizer.end_of_text)
    batches = Batches(text, CONFIG.n_positions, options.seed + before["steps"])

    def minutes() -> float:
        return round(before["minutes"] + (time.monotonic() - start) / 60, 1)

    def save(**more) -> dict:
        save_model(options.out, model, tokenizer.end_of_text)
        processor = round(before["processor_minutes"] + time.process_time() / 60, 1)
        counts = {"steps": before["steps"] + steps, "tokens": before["tokens"] + seen, "seed": options.seed}
        run = {**counts, "minutes": minutes(), "processor_minutes": processor, **more}
        (options.out / "training.json").write_text(json.dumps(run, indent=2) + "\n", encoding="utf-8")
        return run

    start = told = time.monotonic()
    steps, seen, mean = 0, 0, math.nan
    while minutes() < options.minutes:
        progress = minutes() / options.minutes
        batch = next_batch(progress, batches)
        rate = warm_cosine(steps, progress, PEAK_RATE)
        loss = step(model, adam, rate, batch)
        mean = loss if math.isnan(mean) else 0.98 * mean + 0.02 * loss
        steps += 1
        seen += batch[0].numel()
        if time.monotonic() - told > 120:
            told = time.monotonic()
            held = held_out_loss(model, held_out, 256, 24)
            print(f"{save()}: rate {rate:.1e}, loss {mean:.3f}, held out {held:.3f}", flush=True)

    final = {f"held_out_loss_{tokens}": round(held_out_loss(model, held_out, tokens), 3) for tokens in (256, 1024)}
    bits = final["held_out_loss_256"] / math.log(2) / bytes_per_token
    print(save(**final, held_out_bits_per_byte=round(bits, 3)), flush=True)


if __name__ == "__main__":
    main()
