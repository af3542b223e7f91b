// A bot for every game: it plays any legal move. `java Bot.java`
// Java has no JSON; `id` stands first in the line and `x_legal` last, so looking for them is enough.

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.Random;

class Bot {
    public static void main(String[] arguments) throws IOException {
        var input = new BufferedReader(new InputStreamReader(System.in));
        var random = new Random();
        for (String line; (line = input.readLine()) != null; ) {
            var answer = "\"type\":\"error\",\"code\":\"unknown_cmd\"";
            if (line.contains("\"cmd\":\"go\"")) {
                var legal = between(line, "\"x_legal\":[\"", "\"]").split("\",\"");
                answer = "\"type\":\"bestmove\",\"move\":\"" + legal[random.nextInt(legal.length)] + "\"";
            }
            System.out.println("{\"id\":\"" + between(line, "\"id\":\"", "\"") + "\"," + answer + "}");
        }
    }

    static String between(String line, String before, String after) {
        int start = line.indexOf(before) + before.length();
        return line.substring(start, line.indexOf(after, start));
    }
}
