// What PyTorch computed in float64 (tests/fixtures/make-torch-fixtures.py), against the package.
import { engine } from './helpers.js';
import { testGroup } from './torch.js';

const hw = await engine();

for (const group of ['functions', 'attention', 'modules', 'states', 'dropout'])
  testGroup(hw, group);
