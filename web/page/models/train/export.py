"""Writes a model as Hugging Face has GPT-2: config.json and model.safetensors."""

import json
import struct
from pathlib import Path

import torch

from model import Config, Gpt2

DTYPES = {torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16"}


def save_safetensors(path: Path, tensors: dict[str, torch.Tensor], reverse_header: bool = False) -> None:
    """
    Eight bytes of header length, little endian; the header, JSON padded by spaces to eight bytes; the data.
    reverse_header: the header names the tensors from the last to the first.
    """
    header = {}
    parts = []
    at = 0
    for name, tensor in tensors.items():
        # NumPy has no bfloat16: its bits go as 16-bit integers.
        bits = tensor.contiguous().view(torch.int16) if tensor.element_size() == 2 else tensor.contiguous()
        parts.append(bits.numpy().tobytes())
        header[name] = {
            "dtype": DTYPES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [at, at + len(parts[-1])],
        }
        at += len(parts[-1])
    if reverse_header:
        header = dict(reversed(header.items()))
    text = json.dumps({"__metadata__": {"format": "pt"}, **header}, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + b"".join(parts))


def load_safetensors(path: Path) -> dict[str, torch.Tensor]:
    """The tensors of a file that save_safetensors wrote, in their own types."""
    data = bytearray(path.read_bytes())
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    types = {name: dtype for dtype, name in DTYPES.items()}
    tensors = {}
    for name, entry in header.items():
        start, end = (8 + length + offset for offset in entry["data_offsets"])
        tensors[name] = torch.frombuffer(data[start:end], dtype=types[entry["dtype"]]).reshape(entry["shape"])
    return tensors


def config_json(config: Config, end_of_text: int | None = None) -> dict:
    """config.json; end_of_text: the id that begins and ends a text, if there is one."""
    fixed = {
        "architectures": ["GPT2LMHeadModel"],
        "model_type": "gpt2",
        "activation_function": "gelu_new",
        "tie_word_embeddings": True,
        "torch_dtype": "float16",
    }
    ends = {} if end_of_text is None else {"bos_token_id": end_of_text, "eos_token_id": end_of_text}
    return {**fixed, **vars(config), **ends}


def save_model(folder: Path, model: Gpt2, end_of_text: int | None = None) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    config = json.dumps(config_json(model.config, end_of_text), indent=2)
    (folder / "config.json").write_text(config + "\n", encoding="utf-8")
    halves = {name: tensor.half() for name, tensor in model.state_dict().items()}
    save_safetensors(folder / "model.safetensors", halves)


def load_model(folder: Path) -> Gpt2:
    """The model of a folder, computing in float32."""
    fields = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    model = Gpt2(Config(**{name: fields[name] for name in Config.__dataclass_fields__}))
    tensors = load_safetensors(folder / "model.safetensors")
    model.load_state_dict({name: tensor.float() for name, tensor in tensors.items()})
    return model.eval()
