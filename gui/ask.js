/** A question before something is deleted. */
import { el } from './dom.js';

/** @returns {Promise<boolean>} whether the user confirmed */
export function confirmed(question, act) {
	return new Promise((resolve) => {
		const dialog = el('dialog.ask', { 'aria-label': question },
			el('p', {}, question),
			el('form.row.end', { method: 'dialog' },
				el('button', { type: 'submit', value: '', testid: 'ask-no' }, 'Cancel'),
				el('button', { type: 'submit', value: 'yes', class: 'primary', testid: 'ask-yes' }, act)));
		dialog.addEventListener('close', () => {
			resolve(dialog.returnValue === 'yes');
			dialog.remove();
		});
		document.body.append(dialog);
		dialog.showModal();
	});
}
