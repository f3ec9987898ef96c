// Gradients that PyTorch's autograd computed in float64, of every module, and of GPT-2's loss.
import { engine } from './helpers.js';
import { testModuleGradients } from './torch-gradients.js';

testModuleGradients(await engine(), 'module_gradients');
