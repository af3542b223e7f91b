/**
 * Forms made from the settings that `describe` lists, and errors shown at the field that the server's `pointer` names.
 */
import { el, prose } from './dom.js';

let count = 0;

/** 16 random hex digits, the form of a seed. */
export const randomSeed = () => [...crypto.getRandomValues(new Uint32Array(2))]
	.map((word) => word.toString(16).padStart(8, '0')).join('');

/**
 * A labelled field with a place for its error.
 * @param {string} label @param {HTMLElement} control @param {string} pointer  the JSON pointer of what it sets
 * @param {Node[]} [more]  beside the control
 */
export function field(label, control, pointer, help = '', more = []) {
	count += 1;
	const id = `field-${count}`;
	control.id = id;
	control.setAttribute('aria-describedby', `${id}-help ${id}-error`);
	return el('div.field', { 'data-pointer': pointer },
		el('label', { for: id }, label),
		el('div.control', {}, control, ...more),
		el('p.help', { id: `${id}-help` }, ...prose(help)),
		el('p.error', { id: `${id}-error`, testid: `error${pointer.replaceAll('/', '-')}` }));
}

/** The control for one setting. */
function control(spec, value) {
	const { name, type, words = [] } = spec;
	const current = value === undefined ? '' : String(value);
	const fallback = spec.default === undefined || spec.default === 'default' ? 'default' : `default: ${spec.default}`;
	const option = (text, label = text) => el('option', { value: text, selected: text === current }, label);
	if (type === 'word') return el('select', { name }, option('', fallback), ...words.map((word) => option(word)));
	if (type === 'bool') return el('select', { name }, option('', fallback), option('true', 'yes'), option('false', 'no'));
	if (type === 'int') {
		return el('input', { name, type: 'number', min: spec.min, max: spec.max, step: 1, value: current, placeholder: fallback });
	}
	return el('input', {
		name, type: 'text', value: current, placeholder: words.length ? `${words.join(', ')} or a number` : fallback,
		autocomplete: 'off', spellcheck: 'false',
	});
}

/**
 * A form's part for settings.
 * @param {Array<object>} specs  as `describe` lists them
 * @param {string} root  the pointer of their object, `/rules` or `/options`
 * @param {object} values  what is set already
 */
export function settings(specs, root, values = {}) {
	const fields = specs.map((spec) => {
		const input = control(spec, values[spec.name]);
		input.dataset.type = spec.type;
		if (spec.words) input.dataset.words = spec.words.join(' ');
		input.dataset.testid = `${root.slice(1)}-${spec.name}`;
		const dice = spec.type === 'seed'
			? [el('button.plain', { title: 'Draw a random seed', 'aria-label': 'Draw a random seed',
				onclick: () => { input.value = randomSeed(); input.dispatchEvent(new Event('input', { bubbles: true })); } }, '⚄')]
			: [];
		return field(spec.name.replaceAll('_', ' '), input, `${root}/${spec.name}`, spec.about, dice);
	});
	return el('div.settings', {}, ...fields);
}

/** The settings that are filled in; the server has defaults for the others. */
export function valuesOf(root) {
	const values = {};
	for (const input of root.querySelectorAll('[data-type]')) {
		const text = input.value.trim();
		if (!text) continue;
		const { type, words = '' } = input.dataset;
		// A word may consist of digits, so the words come first.
		const isCount = type === 'int' || (type === 'word_or_int' && /^-?\d+$/.test(text) && !words.split(' ').includes(text));
		if (type === 'bool') values[input.name] = text === 'true';
		else values[input.name] = isCount ? Number(text) : text;
	}
	return values;
}

/**
 * Shows an error at the field that its pointer names, or at the nearest one around it.
 * @param {HTMLElement} root @param {{message: string, pointer?: string}|null} error  null takes errors away
 * @returns {boolean} whether a field was found
 */
export function showError(root, error) {
	for (const node of root.querySelectorAll('.field')) {
		node.querySelector('.error').textContent = '';
		node.querySelector('input, select, textarea')?.removeAttribute('aria-invalid');
	}
	if (!error) return true;
	for (let pointer = error.pointer ?? ''; pointer; pointer = pointer.slice(0, pointer.lastIndexOf('/'))) {
		const node = [...root.querySelectorAll('.field')].find((one) => one.dataset.pointer === pointer);
		if (node) {
			node.querySelector('.error').textContent = error.message;
			node.querySelector('input, select, textarea')?.setAttribute('aria-invalid', 'true');
			return true;
		}
	}
	return false;
}
