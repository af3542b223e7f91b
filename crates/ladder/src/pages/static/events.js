/**
 * Server-sent events that are followed until they end. A browser reconnects by itself after a lost connection, but not after a
 * refusal, such as when there are too many spectators.
 */

/** How long a page waits after a refusal before it tries again: FIRST_MS, then twice as long each time, up to MOST_MS. */
const FIRST_MS = 1000;
const MOST_MS = 30000;

/**
 * Follows the events at an address, each by its listener. After a refusal, `goesOn` says whether there is still anything to
 * follow. Returns a function that stops it.
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
			// Randomised, so that not all who were refused come back at once.
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
