/** Files that are dropped on the page: a browser would open them in its place. */

/** @param {DataTransfer | null} transfer whether it brings files */
export const hasFiles = (transfer) => transfer?.types.includes('Files') ?? false;

/** The rooms that take no files ignore them. */
export function ignoreDrops() {
  const ignore = (/** @type {DragEvent} */ event) => {
    if (event.defaultPrevented || !event.dataTransfer || !hasFiles(event.dataTransfer)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = 'none';
  };
  // Of the window: the rooms, which listen to the document, come first.
  addEventListener('dragover', ignore);
  addEventListener('drop', ignore);
}
