// Plays the remote task protocol as a client on the JVM does: nothing but the JDK's own HTTP client, which offers an
// upgrade to HTTP/2 with every first request.
//
//   java Tasks.java BASE_URL TOKEN

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public class Tasks {
    static final Duration PATIENCE = Duration.ofSeconds(30);
    static String base;
    static String token;
    static final HttpClient CLIENT = HttpClient.newBuilder()
            .connectTimeout(Duration.ofSeconds(30))
            .followRedirects(HttpClient.Redirect.NORMAL)
            .build();

    record Answer(int status, String body) {
        /** The text of a field at the top; null where there is none. */
        String field(String name) {
            Matcher found = Pattern.compile("\"" + name + "\":\"((?:[^\"\\\\]|\\\\.)*)\"").matcher(body);
            return found.find() ? found.group(1) : null;
        }
    }

    record Event(String id, String type, String data) {}

    public static void main(String[] arguments) throws Exception {
        base = arguments[0].replaceAll("/$", "");
        token = arguments[1];
        olderVersion();
        newerVersion();
        cancelled();
        refused();
        System.out.println("all tasks were played");
    }

    /** Texts only: submit, look until it has ended, fetch. */
    static void olderVersion() throws Exception {
        Answer taken = post("/tasks", "{\"task_id\":\"old-1\",\"agent_id\":\"lead\",\"input\":\"work\"}");
        expect(taken, 200, "pending");
        String status = "pending";
        for (int look = 0; look < 600 && (status.equals("pending") || status.equals("running")); look++) {
            Thread.sleep(50);
            status = get("/tasks/old-1").field("status");
        }
        check(status.equals("success"), "the task ended as " + status);
        Answer waited = get("/tasks/old-1/wait?timeout_seconds=120");
        expect(waited, 200, "success");
        check("heard work".equals(waited.field("result")), waited.body());
        expect(post("/tasks", "{\"task_id\":\"old-1\",\"agent_id\":\"lead\",\"input\":\"work\"}"), 409, null);
        System.out.println("the older version: submit, status, wait");
    }

    /** With a context, an id that needs escaping, and a stream that is opened before the task is submitted. */
    static void newerVersion() throws Exception {
        String id = "new/1 + more";
        CompletableFuture<List<Event>> streamed = CompletableFuture.supplyAsync(() -> events(id, null, 0));
        String context = "{\"user_id\":\"ann\",\"parent_session_id\":\"p-1\",\"stream\":true,\"detail\":\"full\","
                + "\"deny_rules\":[],\"attributes\":{\"a\":1}}";
        expect(post("/tasks", "{\"task_id\":\"" + id + "\",\"agent_id\":\"lead\",\"input\":\"work\",\"context\":"
                + context + "}"), 200, "pending");
        List<Event> events = streamed.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        check(events.get(0).type().equals("RUN_STARTED"), events.toString());
        check(events.get(events.size() - 1).data().contains("\"status\":\"success\""), events.toString());
        check(events.stream().anyMatch(event -> event.type().equals("TEXT_DELTA")), events.toString());
        for (int place = 0; place < events.size(); place++) {
            check(events.get(place).id().equals(Integer.toString(place + 1)), events.toString());
        }
        check(events(id, null, 0).equals(events), "an ended task is told again, the same");
        check(events(id, "1", 0).equals(events.subList(1, events.size())), "Last-Event-ID");
        check(events(id, "1", 2).equals(events.subList(2, events.size())), "from_seq goes before Last-Event-ID");
        expect(get("/tasks/" + encoded(id)), 200, "success");
        Answer resumed = post("/tasks/" + encoded(id) + "/resume",
                "{\"decisions\":[{\"toolCallId\":\"c\",\"approved\":true}]}");
        check(resumed.status() == 409 && resumed.field("error") != null, resumed.toString());
        System.out.println("the newer version: events before the task, replay, resume");
    }

    static void cancelled() throws Exception {
        CompletableFuture<List<Event>> streamed = CompletableFuture.supplyAsync(() -> events("slow-1", null, 0));
        expect(post("/tasks", "{\"task_id\":\"slow-1\",\"agent_id\":\"lead\",\"input\":\"slow\"}"), 200, "pending");
        Answer waited = get("/tasks/slow-1/wait?timeout_seconds=1");
        expect(waited, 200, "error");
        check(waited.field("error").toLowerCase().contains("timeout"), waited.body());
        Answer told = post("/tasks/slow-1/cancel", null);
        check(told.status() == 200 && told.body().isEmpty(), told.toString());
        expect(get("/tasks/slow-1"), 200, "cancelled");
        List<Event> events = streamed.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        check(events.size() == 1 && events.get(0).type().equals("RUN_STARTED"), "it ends without a word: " + events);
        System.out.println("cancel");
    }

    static void refused() throws Exception {
        Answer unknown = get("/tasks/nobody-knows");
        expect(unknown, 200, "error");
        check("task not found".equals(unknown.field("error")), unknown.body());
        expect(get("/tasks/nobody-knows/wait?timeout_seconds=1"), 200, "error");
        check(post("/tasks/nobody-knows/cancel", null).status() == 200, "cancelling what nobody knows");
        Answer blank = post("/tasks", "{\"task_id\":\"  \",\"agent_id\":\"lead\",\"input\":\"x\"}");
        check(blank.status() == 400 && blank.field("error") != null, blank.toString());
        HttpRequest strange = request("/tasks").header("Content-Type", "text/plain")
                .POST(BodyPublishers.ofString("{}")).build();
        check(send(strange).status() == 415, "another content type");
        System.out.println("what cannot be");
    }

    static HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(base + path)).timeout(PATIENCE).header("Authorization", "Bearer " + token);
    }

    static Answer get(String path) throws Exception {
        return send(request(path).GET().build());
    }

    static Answer post(String path, String body) throws Exception {
        HttpRequest.Builder request = request(path);
        if (body == null) {
            return send(request.POST(BodyPublishers.noBody()).build());
        }
        return send(request.header("Content-Type", "application/json").POST(BodyPublishers.ofString(body)).build());
    }

    static Answer send(HttpRequest request) throws Exception {
        HttpResponse<String> response = CLIENT.send(request, BodyHandlers.ofString());
        return new Answer(response.statusCode(), response.body());
    }

    /** Every event until the server ends the stream. */
    static List<Event> events(String task, String last, int from) {
        HttpRequest.Builder request = request("/tasks/" + encoded(task) + "/events" + (from > 0 ? "?from_seq=" + from : ""))
                .header("Accept", "text/event-stream");
        if (last != null) {
            request.header("Last-Event-ID", last);
        }
        List<Event> events = new ArrayList<>();
        try {
            var response = CLIENT.send(request.GET().build(), BodyHandlers.ofInputStream());
            check(response.statusCode() == 200, "the stream was answered with " + response.statusCode());
            var lines = new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8));
            String id = null, type = null, data = null;
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith("id:")) {
                    id = line.substring(3).strip();
                } else if (line.startsWith("event:")) {
                    type = line.substring(6).strip();
                } else if (line.startsWith("data:")) {
                    data = line.substring(5).strip();
                } else if (line.isEmpty() && data != null) {
                    events.add(new Event(id, type, data));
                    id = type = data = null;
                }
            }
        } catch (Exception fault) {
            throw new IllegalStateException(fault);
        }
        return events;
    }

    static String encoded(String id) {
        return URLEncoder.encode(id, StandardCharsets.UTF_8);
    }

    static void expect(Answer answer, int status, String word) {
        check(answer.status() == status, answer.toString());
        check(word == null || word.equals(answer.field("status")), answer.toString());
    }

    static void check(boolean holds, String what) {
        if (!holds) {
            throw new IllegalStateException(what);
        }
    }
}
