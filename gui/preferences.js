/**
 * Preferences of this browser, whatever the game: whether pieces are animated, whether there are sounds, and
 * whether moves are entered while the opponent thinks.
 */
import { el } from './dom.js';

const KEY = 'plyd.preferences';
const KNOWN = { motion: 'Piece animation', sound: 'Sounds', premove: 'Premoves' };

const preferences = { motion: true, sound: true, premove: true };
try {
	const kept = JSON.parse(localStorage.getItem(KEY)) ?? {};
	for (const name of Object.keys(KNOWN)) if (typeof kept[name] === 'boolean') preferences[name] = kept[name];
} catch {
	// Preferences that cannot be read keep their defaults.
}

/** Whether pieces are animated; never if the system asks for reduced motion. */
export const isMoving = () => preferences.motion && !matchMedia('(prefers-reduced-motion: reduce)').matches;

/** Whether moves may be entered while the opponent thinks. */
export const isPremoving = () => preferences.premove;

export const isHeard = () => preferences.sound;

/** The switches, as checkboxes. */
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
