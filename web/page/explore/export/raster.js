/** An exported picture in pixels. */

/** Pixels for each of the SVG's, and what canvases take everywhere. */
const DENSITY = 2;
const MOST_SIDE = 16_384;
const MOST_PIXELS = 6e7;

/** @param {{ svg: string, width: number, height: number }} figure @returns {Promise<Blob>} PNG */
export async function pngOf({ svg, width, height }) {
  const factor = Math.min(
    DENSITY,
    MOST_SIDE / Math.max(width, height),
    Math.sqrt(MOST_PIXELS / (width * height)),
  );
  const address = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = Math.floor(width * factor);
    canvas.height = Math.floor(height * factor);
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise((/** @type {(blob: Blob | null) => void} */ resolve) =>
      canvas.toBlob(resolve, 'image/png'),
    );
    if (!blob) throw new Error('The picture is too large for PNG; save it as SVG.');
    return blob;
  } finally {
    URL.revokeObjectURL(address);
  }
}
