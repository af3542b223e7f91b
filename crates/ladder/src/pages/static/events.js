/**
 * Server-sent events that are followed for as long as there are some. A browser asks again by itself after a connection that
 * broke, and not after a refusal, such as one because all places of spectators are taken.
 */

/** How long a page waits after a refusal before it asks again: this, then twice as long, and so on up to the most. */
const FIRST_MS = 1000;
const MOST_MS = 30000;

/**
 * Follows the events at an address, each by its listener. After a refusal `goesOn` says whether there is anything to follow
 * still. Gives what ends it.
 */
export function follow(address, listeners, goesOn) {
	let events = null;
	let pause = FIRST_MS;
	let isOver = false;
	function open() {
		if (isOver) return;
		events = new EventSource(address);
		for (const [name, listener] of Object.entries(listeners)) events.addEventListener(name, listener);
		events.addEventListener('open', () => { pause = FIRST_MS; });
		events.addEventListener('error', async () => {
			if (events.readyState !== EventSource.CLOSED || !await goesOn()) return;
			// By chance, so that not all who were refused come back at once.
			setTimeout(open, pause * (0.5 + Math.random() / 2));
			pause = Math.min(2 * pause, MOST_MS);
		});
	}
	open();
	return () => {
		isOver = true;
		events.close();
	};
}
