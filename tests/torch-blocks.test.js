// What PyTorch computed in float64 of gelu, LayerNorm, Embedding, FeedForward and Transformer blocks.
import { engine } from './helpers.js';
import { testGroup } from './torch.js';

testGroup(await engine(), 'blocks');
