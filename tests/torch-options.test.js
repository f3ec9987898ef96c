// What PyTorch operations computed in float64 of attention's further options, and of self-attention's two versions.
import { engine } from './helpers.js';
import { testGroup } from './torch.js';

testGroup(await engine(), 'options');
