/**
 * Four quiet sounds, made here: a move; a stronger one, which merges, builds or scores; the end; an error. Browsers let a
 * page be heard only after somebody touched it, so it is imported then.
 */
import { isHeard } from './preferences.js';

/** The tones of each sound: Hz at the beginning and at the end, start and duration in seconds, loudness. */
const SOUNDS = {
	move: [[320, 180, 0, 0.07, 0.16]],
	strong: [[300, 140, 0, 0.09, 0.2], [520, 380, 0.03, 0.1, 0.1]],
	end: [[392, 392, 0, 0.16, 0.12], [494, 494, 0.12, 0.16, 0.12], [587, 587, 0.24, 0.34, 0.12]],
	error: [[160, 130, 0, 0.16, 0.16]],
};

let audio = null;

/** @param {keyof SOUNDS} name */
export function play(name) {
	if (!isHeard()) return;
	audio ??= new AudioContext();
	if (audio.state === 'suspended') audio.resume().catch(() => {});
	for (const [from, to, after, seconds, loudness] of SOUNDS[name]) {
		const begin = audio.currentTime + after;
		const tone = new OscillatorNode(audio, { type: 'triangle', frequency: from });
		const gain = new GainNode(audio, { gain: 0 });
		tone.frequency.setValueAtTime(from, begin);
		tone.frequency.exponentialRampToValueAtTime(to, begin + seconds);
		gain.gain.setValueAtTime(0, begin);
		gain.gain.linearRampToValueAtTime(loudness, begin + 0.006);
		gain.gain.exponentialRampToValueAtTime(0.0001, begin + seconds);
		tone.connect(gain).connect(audio.destination);
		tone.start(begin);
		tone.stop(begin + seconds);
	}
}
