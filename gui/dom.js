/** Making elements. Attributes go through the DOM alone, so that no text of a server is ever read as markup. */

/**
 * An element; the tag may bring classes, as in `div.row.end`.
 * @param {object} [attributes]  `on…` are listeners, `testid` is `data-testid`; false, null and undefined are left out
 */
export function el(tag, attributes = {}, ...children) {
	const [name, ...classes] = tag.split('.');
	const node = document.createElement(name);
	if (name === 'button') node.type = 'button';
	return filled(node, classes, attributes, children);
}

/** The same for SVG. */
export function svg(tag, attributes = {}, ...children) {
	const [name, ...classes] = tag.split('.');
	return filled(document.createElementNS('http://www.w3.org/2000/svg', name), classes, attributes, children);
}

function filled(node, classes, attributes, children) {
	node.classList.add(...classes);
	for (const [name, value] of Object.entries(attributes)) {
		if (value === undefined || value === null || value === false) continue;
		if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
		else node.setAttribute(name === 'testid' ? 'data-testid' : name, value === true ? '' : String(value));
	}
	node.append(...children.filter((child) => child !== null && child !== undefined));
	return node;
}

/** A text of the server's, in which backticks enclose code, as nodes. */
export const prose = (text) => text.split('`').map((part, index) => (index % 2 ? el('code', {}, part) : part));

/** @param {string} id  of an element of index.html */
export const byId = (id) => document.getElementById(id);

/** The address of an SVG that the server drew, for an image: besides its own files, the page's policy allows only data URLs. */
export const svgAddress = (svg) => `data:image/svg+xml,${encodeURIComponent(svg)}`;
