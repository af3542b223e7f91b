const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`);
socket.onopen = () => socket.send(JSON.stringify({ id: "hello", cmd: "hello", protocol: { min: 1, max: 1 } }));
socket.onmessage = (event) => (document.getElementById("main").textContent = event.data);
