"""GPT-2 in PyTorch under Hugging Face's names: state_dict() is what model.safetensors holds."""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Config:
    """The fields of config.json that shape the model."""

    vocab_size: int
    n_positions: int
    n_embd: int
    n_layer: int
    n_head: int
    n_inner: int
    layer_norm_epsilon: float = 1e-5


class Conv1D(nn.Module):
    """A linear layer with its weight as [in, out]."""

    def __init__(self, n_in: int, n_out: int, std: float):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n_in, n_out) * std)
        self.bias = nn.Parameter(torch.zeros(n_out))

    def forward(self, x):
        return torch.addmm(self.bias, x.view(-1, x.shape[-1]), self.weight).view(*x.shape[:-1], -1)


class Attention(nn.Module):
    def __init__(self, config: Config, std: float):
        super().__init__()
        self.n_head = config.n_head
        self.c_attn = Conv1D(config.n_embd, 3 * config.n_embd, std)
        self.c_proj = Conv1D(config.n_embd, config.n_embd, std / math.sqrt(2 * config.n_layer))

    def forward(self, x):
        """x: [batch, tokens, n_embd]. Returns the output, alike, and the weights, [batch, heads, tokens, tokens]."""
        batch, tokens, width = x.shape
        heads = self.c_attn(x).view(batch, tokens, 3, self.n_head, -1).permute(2, 0, 3, 1, 4)
        q, k, v = heads
        future = torch.full((tokens, tokens), -math.inf, dtype=x.dtype).triu(1)
        scores = torch.baddbmm(
            future.expand(batch * self.n_head, -1, -1),
            q.flatten(0, 1),
            k.flatten(0, 1).transpose(1, 2),
            alpha=1 / math.sqrt(width / self.n_head),
        )
        weights = scores.softmax(-1).view(batch, self.n_head, tokens, tokens)
        mixed = (weights @ v).transpose(1, 2).reshape(batch, tokens, width)
        return self.c_proj(mixed), weights


class FeedForward(nn.Module):
    def __init__(self, config: Config, std: float):
        super().__init__()
        self.c_fc = Conv1D(config.n_embd, config.n_inner, std)
        self.c_proj = Conv1D(config.n_inner, config.n_embd, std / math.sqrt(2 * config.n_layer))

    def forward(self, x):
        return self.c_proj(F.gelu(self.c_fc(x), approximate="tanh"))


class Block(nn.Module):
    def __init__(self, config: Config, std: float):
        super().__init__()
        self.ln_1 = nn.LayerNorm(config.n_embd, config.layer_norm_epsilon)
        self.attn = Attention(config, std)
        self.ln_2 = nn.LayerNorm(config.n_embd, config.layer_norm_epsilon)
        self.mlp = FeedForward(config, std)

    def forward(self, x):
        output, weights = self.attn(self.ln_1(x))
        x = x + output
        return x + self.mlp(self.ln_2(x)), weights


class Gpt2(nn.Module):
    def __init__(self, config: Config, token_std: float = 0.05):
        super().__init__()
        self.config = config
        # Of GPT-2's 0.02 a model as narrow as these begins with heads that see all tokens alike, and stays so for long.
        std = config.n_embd**-0.5
        self.wte = nn.Embedding(config.vocab_size, config.n_embd)
        self.wpe = nn.Embedding(config.n_positions, config.n_embd)
        self.h = nn.ModuleList(Block(config, std) for _ in range(config.n_layer))
        self.ln_f = nn.LayerNorm(config.n_embd, config.layer_norm_epsilon)
        nn.init.normal_(self.wte.weight, std=token_std)
        nn.init.normal_(self.wpe.weight, std=token_std)

    def hidden(self, ids, positions=None):
        """What the head reads, [batch, tokens, n_embd], and each layer's weights. positions: 0, 1, … unless given."""
        if positions is None:
            positions = torch.arange(ids.shape[-1])
        x = self.wte(ids) + self.wpe(positions)
        maps = []
        for block in self.h:
            x, weights = block(x)
            maps.append(weights)
        return self.ln_f(x), maps

    def forward(self, ids, positions=None):
        """The logits, [batch, tokens, vocab_size], and each layer's attention weights."""
        x, maps = self.hidden(ids, positions)
        return x @ self.wte.weight.T, maps

    def loss(self, ids, targets, positions=None):
        """Mean cross-entropy in nats over the targets that are not -100."""
        logits, _ = self(ids, positions)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    @torch.no_grad()
    def generate(self, ids: list[int], count: int, temperature=0.0, top_k=0, generator=None) -> list[int]:
        """`count` more ids; greedy at temperature 0."""
        ids = list(ids)
        for _ in range(count):
            logits = self(torch.tensor([ids[-self.config.n_positions :]]))[0][0, -1]
            if temperature == 0:
                ids.append(int(logits.argmax()))
                continue
            if top_k:
                logits[logits < logits.topk(top_k).values[-1]] = -math.inf
            chances = (logits / temperature).softmax(-1)
            ids.append(int(torch.multinomial(chances, 1, generator=generator)))
        return ids


def sinusoids(count: int, width: int, amplitude: float) -> torch.Tensor:
    """
    Waves of 3 to 3,000 positions to begin wpe with: a shift by one is then a rotation, the same at every position,
    which heads that look at the token before find sooner than among random vectors.
    """
    rates = 2 * 1000 ** (-torch.arange(width // 2) / (width // 2))
    angles = torch.arange(count)[:, None] * rates
    return amplitude * torch.cat([angles.sin(), angles.cos()], 1)


def optimizer(model: Gpt2, rate: float, decay: float) -> torch.optim.AdamW:
    """AdamW; only matrices decay, the positions and the layer norms do not."""
    matrices = [p for name, p in model.named_parameters() if p.dim() == 2 and name != "wpe.weight"]
    others = [p for name, p in model.named_parameters() if p.dim() < 2 or name == "wpe.weight"]
    groups = [{"params": matrices, "weight_decay": decay}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.98))


def step(model: Gpt2, optimizer: torch.optim.AdamW, rate: float, batch) -> float:
    """One step on (ids, targets, positions) at this learning rate; returns the loss."""
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.zero_grad(set_to_none=True)
    loss = model.loss(*batch)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()


def warm_cosine(step: int, progress: float, peak: float, warmup: int = 200) -> float:
    """The learning rate: up in `warmup` steps, then a cosine of progress (0 to 1) down to a twentieth."""
    return peak * min(1, (step + 1) / warmup) * (0.525 + 0.475 * math.cos(math.pi * min(1, progress)))
