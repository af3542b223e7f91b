/** Making elements. Attributes go through the DOM alone, so that no text of a server is ever read as markup. */

/**
 * @param {object} [attributes]  `on…` are listeners; false, null and undefined are left out; true is an empty attribute
 */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  if (tag === 'button') node.type = 'button';
  return filled(node, attributes, children);
}

/** The same for SVG. */
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : String(value));
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** @param {string} id  of an element of index.html */
export const byId = (id) => document.getElementById(id);
