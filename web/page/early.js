// Before main.js is here: the room of the address in place of Compare. A classic script, and a file of its own, which strict
// policies allow.
{
  const { documentElement: root } = document;

  /** The room of the address, or Compare. */
  const roomHere = () =>
    /^#(explore|train|lessons|bench)(?![^?])/.exec(location.hash)?.[1] ?? 'compare';

  const showRoom = () => {
    const room = roomHere();
    root.dataset.room = room;
    for (const link of document.querySelectorAll('#rooms a')) {
      if (link.getAttribute('data-room') === room) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
    }
  };

  root.dataset.room = roomHere();
  document.addEventListener('readystatechange', showRoom, { once: true });
}
