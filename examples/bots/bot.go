// A bot for every game: it plays any legal move. `go run bot.go`
package main

import (
	"bufio"
	"encoding/json"
	"math/rand"
	"os"
	"time"
)

func main() {
	input, output := bufio.NewReader(os.Stdin), json.NewEncoder(os.Stdout)
	rand.Seed(time.Now().UnixNano())
	for {
		line, err := input.ReadBytes('\n')
		var request struct {
			Id, Cmd string
			Legal   []string `json:"x_legal"`
		}
		if err != nil || json.Unmarshal(line, &request) != nil {
			return
		}
		answer := map[string]string{"id": request.Id, "type": "error", "code": "unknown_cmd"}
		if request.Cmd == "go" {
			move := request.Legal[rand.Intn(len(request.Legal))]
			answer = map[string]string{"id": request.Id, "type": "bestmove", "move": move}
		}
		output.Encode(answer)
	}
}
