// Gradients that PyTorch's autograd computed in float64, of every function.
import { engine } from './helpers.js';
import { testFunctionGradients } from './torch-gradients.js';

testFunctionGradients(await engine(), 'gradients');
