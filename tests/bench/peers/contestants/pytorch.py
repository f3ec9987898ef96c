"""A step of training in PyTorch, for pytorch.js: lines of commands come in, a line answers each.

The first line is the task as JSON; its weights, float32, lie one after another in the file that it names.
"first" writes the gradients of the short text's loss there in their place and answers that loss; "run" answers the loss of a step.
"""

import json
import math
import sys

import numpy as np
import torch
import torch.nn.functional as F

task = json.loads(sys.stdin.readline())
torch.set_num_threads(task["threads"])
sizes = [math.prod(shape) for shape in task["shapes"].values()]
values = torch.from_numpy(np.fromfile(task["file"], dtype=np.float32)).split(sizes)
weights = {
    name: part.reshape(shape).clone().requires_grad_()
    for (name, shape), part in zip(task["shapes"].items(), values)
}


def linear(x, name):
    return torch.addmm(weights[f"{name}.bias"], x.flatten(0, -2), weights[f"{name}.weight"]).unflatten(0, x.shape[:-1])


def norm(x, name):
    return F.layer_norm(x, x.shape[-1:], weights[f"{name}.weight"], weights[f"{name}.bias"], 1e-5)


def attend(x, block):
    rows, tokens, width = x.shape
    heads = task["heads"]
    q, k, v = linear(x, f"{block}attn.c_attn").view(rows, tokens, 3, heads, -1).permute(2, 0, 3, 1, 4)
    future = torch.full((tokens, tokens), -math.inf).triu(1).expand(rows * heads, -1, -1)
    scale = 1 / math.sqrt(width / heads)
    scores = torch.baddbmm(future, q.flatten(0, 1), k.flatten(0, 1).transpose(1, 2), alpha=scale)
    mixed = (scores.softmax(-1) @ v.flatten(0, 1)).view(rows, heads, tokens, -1)
    return linear(mixed.transpose(1, 2).reshape(rows, tokens, width), f"{block}attn.c_proj")


def feed_forward(x, block):
    return linear(F.gelu(linear(x, f"{block}mlp.c_fc"), approximate="tanh"), f"{block}mlp.c_proj")


def loss_of(rows):
    """The mean cross-entropy of what each token says of the next."""
    x = F.embedding(rows, weights["wte.weight"]) + weights["wpe.weight"][: rows.shape[1]]
    for layer in range(task["layers"]):
        block = f"h.{layer}."
        x = x + attend(norm(x, f"{block}ln_1"), block)
        if f"{block}mlp.c_fc.weight" in weights:
            x = x + feed_forward(norm(x, f"{block}ln_2"), block)
    logits = norm(x[:, :-1], "ln_f") @ weights["wte.weight"].T
    return F.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())


training = task["training"]
parameters = list(weights.values())
optimizer = torch.optim.AdamW(
    parameters,
    lr=training["lr"],
    betas=training["betas"],
    eps=training["eps"],
    weight_decay=training["weightDecay"],
    foreach=True,
)
batch = torch.tensor(task["rows"]).split(task["microBatch"])
short = torch.tensor([task["short"]])


def first():
    loss = loss_of(short)
    gradients = torch.autograd.grad(loss, parameters)
    torch.cat([gradient.flatten() for gradient in gradients]).numpy().tofile(task["file"])
    return loss.item()


def run():
    optimizer.zero_grad(set_to_none=True)
    total = 0.0
    for rows in batch:
        loss = loss_of(rows) / len(batch)
        loss.backward()
        total += loss.item()
    torch.nn.utils.clip_grad_norm_(parameters, training["maxNorm"])
    optimizer.step()
    return total


commands = {"first": first, "run": run}
print(torch.__version__, flush=True)
for line in sys.stdin:
    print(json.dumps(commands[line.strip()]()), flush=True)
