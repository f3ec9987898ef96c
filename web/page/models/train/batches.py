"""What the model of Austen's text is trained on: windows of the text, of which some repeat themselves.

A batch is ids and targets, [rows, tokens], and the rows' positions, alike.
"""

from dataclasses import dataclass

import torch

# The share of the rows that begin at position 0, not at a random one.
FROM_START = 0.5
# The share of the rows in which a part is written over a later one.
WITH_REPEAT = 0.1
# Of the other rows that begin at position 0 so many begin with <|endoftext|> and a paragraph.
WITH_BEGINNING = 0.8


@dataclass
class Text:
    ids: torch.Tensor
    newline: int
    end_of_text: int

    def __post_init__(self):
        self.paragraphs = (self.ids == self.newline).nonzero()[:, 0] + 1


class Batches:
    def __init__(self, text: Text, n_positions: int, seed: int):
        self.text, self.n_positions = text, n_positions
        self.generator = torch.Generator().manual_seed(seed)

    def whole(self, low: int, high: int) -> int:
        """A whole number from low up to high, high included."""
        return int(torch.randint(low, high + 1, (), generator=self.generator))

    def chance(self) -> float:
        return float(torch.rand((), generator=self.generator))

    def window(self, count: int) -> torch.Tensor:
        at = self.whole(0, len(self.text.ids) - count)
        return self.text.ids[at : at + count].clone()

    def beginning(self, count: int) -> torch.Tensor:
        """<|endoftext|> and the text from the start of a paragraph."""
        last = len(self.text.ids) - count
        paragraphs = self.text.paragraphs
        paragraphs = paragraphs[: int((paragraphs <= last).sum())]
        at = int(paragraphs[self.whole(0, len(paragraphs) - 1)])
        return torch.cat([torch.tensor([self.text.end_of_text]), self.text.ids[at : at + count - 1]])

    def repeated(self, count: int) -> torch.Tensor:
        """A window of which a part is written over a later one."""
        ids = self.window(count)
        length = self.whole(8, count // 2)
        source = self.whole(0, count - 2 * length)
        target = self.whole(source + length, count - length)
        ids[target : target + length] = ids[source : source + length]
        return ids

    def row(self, tokens: int):
        """tokens + 1 ids and the position of the first."""
        from_start = self.chance() < FROM_START
        if self.chance() < WITH_REPEAT:
            ids = self.repeated(tokens + 1)
        elif from_start and self.chance() < WITH_BEGINNING:
            ids = self.beginning(tokens + 1)
        else:
            ids = self.window(tokens + 1)
        return ids, 0 if from_start else self.whole(0, self.n_positions - tokens)

    def batch(self, rows: int, tokens: int):
        ids, starts = zip(*(self.row(tokens) for _ in range(rows)))
        text = torch.stack(ids)
        return text[:, :-1], text[:, 1:], torch.tensor(starts)[:, None] + torch.arange(tokens)
