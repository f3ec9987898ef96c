// Gradients that PyTorch's autograd computed in float64, of every function.
import { engine } from './helpers.js';
import { testFunctionGradients } from './torch-gradients.js';

const hw = await engine();

for (const group of ['gradients', 'attention_gradients']) testFunctionGradients(hw, group);
