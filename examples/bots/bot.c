/* A bot for every game: it plays any legal move. `cc -o bot bot.c && ./bot`
   C has no JSON; `id` stands first in the line and `x_legal` last, so looking for them is enough. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int main(void) {
  char *line = NULL, *move = NULL;
  size_t room = 0;
  srand(time(NULL));
  while (getline(&line, &room, stdin) > 0) {
    char *id = strstr(line, "\"id\":\""), *legal = strstr(line, "\"x_legal\":[\"");
    if (!id) continue;
    printf("{\"id\":\"%.*s\",\"type\":", (int)strcspn(id + 6, "\""), id + 6);
    if (strstr(line, "\"cmd\":\"go\"") && legal) {
      int count = 0; /* The n-th move takes the place of those before it once in n times. */
      for (char *text = strtok(legal + 11, "\""); text; strtok(NULL, "\""), text = strtok(NULL, "\""))
        if (rand() % ++count == 0) move = text;
      printf("\"bestmove\",\"move\":\"%s\"}\n", move);
    } else {
      printf("\"error\",\"code\":\"unknown_cmd\"}\n");
    }
    fflush(stdout);
  }
}
