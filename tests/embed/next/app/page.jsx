// Rendered on the server, where importing must be harmless.
import { tensor } from 'headwise';
import { AttentionMap } from 'headwise/view';
import { load } from 'headwise/worker';
import { Site } from './site.jsx';

export default function Page() {
  const known = [typeof load, typeof AttentionMap, tensor([[1, 2]]).shape.join()];
  return (
    <main data-server={known.join(' ')}>
      <Site />
    </main>
  );
}
