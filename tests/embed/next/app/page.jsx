// Rendered on the server, where importing must be harmless and an engine runs.
import { load as loadHere, tensor } from 'headwise';
import { AttentionMap } from 'headwise/view';
import { load } from 'headwise/worker';
import { Site } from './site.jsx';

export default async function Page() {
  const hw = await loadHere();
  const half = hw.softmax(tensor([1, 1])).data[0];
  hw.dispose();
  const known = [typeof load, typeof AttentionMap, half];
  return (
    <main data-server={known.join(' ')}>
      <Site />
    </main>
  );
}
