// Before main.js is here: the room of the address in place of Compare, and words if main.js does not come. A classic script,
// and a file of its own, which strict policies allow.
{
  const { documentElement: root } = document;

  /** The room of the address, as address.js finds it. */
  const roomHere = () =>
    /^#\/?(explore|train|lessons|bench)(?![a-z])/i.exec(location.hash)?.[1].toLowerCase() ??
    'compare';

  const showRoom = () => {
    const room = roomHere();
    root.dataset.room = room;
    for (const link of document.querySelectorAll('#rooms a')) {
      if (link.getAttribute('data-room') === room) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
    }
  };

  /** As rooms.js says it of a room that does not come. */
  const failure = () => {
    const words = Object.assign(document.createElement('p'), { className: 'message error' });
    words.setAttribute('role', 'alert');
    words.textContent =
      'This page’s script could not be loaded. Check the connection, then reload the page.';
    const button = Object.assign(document.createElement('button'), { type: 'button' });
    button.textContent = 'Reload the page';
    button.addEventListener('click', () => location.reload());
    const message = Object.assign(document.createElement('div'), { className: 'not-opened' });
    message.append(words, button);
    return message;
  };

  const fail = () => {
    const message = failure();
    const show = () => {
      showRoom();
      document.getElementById(`${roomHere()}-room`)?.prepend(message);
    };
    for (const waiting of document.querySelectorAll('.opening')) waiting.remove();
    const note = document.getElementById('verdict-note');
    if (note) note.textContent = 'Nothing has been computed yet.';
    document.getElementById('main')?.classList.add('has-failed');
    show();
    // Links to other rooms still lead to them, and to these words.
    addEventListener('hashchange', show);
  };

  root.dataset.room = roomHere();
  // The field of an own sentence has its place at once: what is below would move when main.js comes.
  if (/[?&]source=own(?![^&])/.test(location.hash)) root.dataset.source = 'own';
  const isRead = new Promise((resolve) =>
    document.addEventListener('DOMContentLoaded', resolve, { once: true }),
  );
  document.addEventListener('readystatechange', showRoom, { once: true });
  // Such an event does not bubble, and may come before the page is read to its end.
  document.addEventListener(
    'error',
    ({ target }) => {
      if (target instanceof HTMLScriptElement && target.type === 'module') isRead.then(fail);
    },
    { capture: true },
  );
}
