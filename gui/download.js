/** Saving files. */
import { el } from './dom.js';

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
