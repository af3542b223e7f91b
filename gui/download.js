/** Saving files, and pictures among them. */
import { el, svgAddress } from './dom.js';

/** Offers a file to be saved. */
export function download(blob, name) {
	const address = URL.createObjectURL(blob);
	const link = el('a', { href: address, download: name });
	document.body.append(link);
	link.click();
	link.remove();
	// The browser has taken the file by the next task.
	setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/**
 * A PNG made from an SVG, drawn by the browser; light or dark as the page is.
 * @param {number} pixels  of its longer side  @returns {Promise<Blob>}
 */
export async function png(svg, pixels) {
	const image = new Image();
	image.src = svgAddress(svg);
	await image.decode();
	const scale = pixels / Math.max(image.naturalWidth, image.naturalHeight);
	const canvas = el('canvas', { width: Math.round(image.naturalWidth * scale), height: Math.round(image.naturalHeight * scale) });
	canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
	return new Promise((resolve, reject) => {
		canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('The browser could not make the picture.'))));
	});
}
