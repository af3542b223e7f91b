/** Keeps the list of the games that are being played up to date. Without it the page shows them as they were. */
const section = document.getElementById('playing');
const RENEW_MS = 2000;
let renewal = 0;

/** Gets the list anew, but not more often than that. */
function renew() {
	renewal ||= setTimeout(async () => {
		try {
			const answer = await fetch(location.href);
			const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
			const fresh = page.getElementById('playing');
			if (answer.ok && fresh) section.replaceChildren(...fresh.childNodes);
		} catch {
			// The next event tries again.
		}
		renewal = 0;
	}, RENEW_MS);
}

if (section) {
	const events = new EventSource('/api/v1/live');
	events.addEventListener('began', renew);
	events.addEventListener('over', renew);
	events.addEventListener('open', renew);
	events.addEventListener('move', (event) => {
		const { game, first, moves } = JSON.parse(event.data);
		const plies = section.querySelector(`tr[data-game="${Number(game)}"] [data-plies]`);
		if (plies) plies.textContent = first + moves.length;
	});
}
