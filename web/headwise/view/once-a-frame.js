/** @param {() => void} draw @returns {() => void} calls it once before the next frame, however often it is asked for */
export function onceAFrame(draw) {
  let isAsked = false;
  return () => {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => {
      isAsked = false;
      draw();
    });
  };
}
