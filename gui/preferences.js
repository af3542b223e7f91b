/** What somebody prefers in this browser, whatever the game: whether pieces move and moves can be heard. */
import { el } from './dom.js';

const KEY = 'plyd.preferences';
const KNOWN = { motion: 'Pieces move', sound: 'Sounds' };

const preferences = { motion: true, sound: true };
try {
	const kept = JSON.parse(localStorage.getItem(KEY)) ?? {};
	for (const name of Object.keys(KNOWN)) if (typeof kept[name] === 'boolean') preferences[name] = kept[name];
} catch {
	// What cannot be read is as it is at first.
}

/** Whether pieces move: not if the system is asked for less of it. */
export const isMoving = () => preferences.motion && !matchMedia('(prefers-reduced-motion: reduce)').matches;

export const isHeard = () => preferences.sound;

/** The switches, as boxes to be checked. */
export const switches = () => Object.entries(KNOWN).map(([name, label]) => el('label.inline', {},
	el('input', {
		type: 'checkbox', checked: preferences[name], testid: `prefer-${name}`,
		onchange: (event) => {
			preferences[name] = event.target.checked;
			try {
				localStorage.setItem(KEY, JSON.stringify(preferences));
			} catch {
				// It holds until the page is closed.
			}
		},
	}), label));
