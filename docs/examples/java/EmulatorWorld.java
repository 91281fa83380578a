import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A fresh world of the hosting emulator for each test; closing it deletes it. Copy this file into your project: it
 * needs only Java 11. The environment variables that it reads come from {@code hosting-emulator exec -- CMD}, or from
 * {@code hosting-emulator env}.
 */
public final class EmulatorWorld implements AutoCloseable {
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final String CONTROL_URL = System.getenv("HOSTING_CONTROL_URL");
  private static final String CONTROL_TOKEN = System.getenv("HOSTING_EMULATOR_CONTROL_TOKEN");

  /** What stands before {@code /v1/…} in this world. */
  public final String baseUrl;

  /** An access token of the user {@code owner}. */
  public final String token;

  private final String summary;
  private final String path;

  /** Create a world. Its clock stands still until the test moves it. */
  public EmulatorWorld() throws IOException, InterruptedException {
    summary = control("POST", "/worlds", "{\"clock\": {\"mode\": \"frozen\"}, \"token\": {}}");
    baseUrl = field(summary, "base_url");
    token = field(summary, "access_token");
    path = "/worlds/" + field(summary, "name");
  }

  /** The full URL of a path. {@code URI.resolve} would lose the world, so join the strings. */
  public URI url(String path) {
    return URI.create(baseUrl + path);
  }

  /** The id of a project, organization or user. */
  public String id(String alias) {
    return field(summary.substring(summary.indexOf("\"alias\":\"" + alias + "\"")), "id");
  }

  /** An access token of another user, for example {@code reader}. */
  public String tokenOf(String user) throws IOException, InterruptedException {
    return field(send("POST", "/tokens", "{\"user\": \"" + user + "\"}"), "access_token");
  }

  /** Move the clock forward, for example by {@code 10m}. */
  public void advance(String by) throws IOException, InterruptedException {
    send("POST", "/clock/advance", "{\"by\": \"" + by + "\"}");
  }

  /** Move the clock forward until an operation ends, and return the operation's final state. */
  public String until(String operation) throws IOException, InterruptedException {
    send("POST", "/clock/advance", "{\"until_operation\": \"" + operation + "\"}");
    return field(send("GET", "/operations/" + operation + "/why", null), "state");
  }

  /** Arm a fault, written as JSON: {"abort": {"code": "rate_limited"}, "times": 1}. */
  public void addFault(String fault) throws IOException, InterruptedException {
    send("POST", "/faults", fault);
  }

  /** Set how the next operation ends, written as JSON: {"fail": {"phase": "deploying"}}. */
  public void addOutcome(String outcome) throws IOException, InterruptedException {
    send("POST", "/outcomes", outcome);
  }

  /** The requests of this world with their responses, as JSON, the newest first. */
  public String requests() throws IOException, InterruptedException {
    return send("GET", "/requests?trail=false", null);
  }

  /** Delete the world. */
  @Override
  public void close() throws IOException, InterruptedException {
    send("DELETE", "", null);
  }

  /** The first value of a field of text. With a JSON library in your project, use that instead. */
  public static String field(String json, String name) {
    Matcher match = Pattern.compile("\"" + name + "\":\"([^\"]*)\"").matcher(json);
    if (!match.find()) throw new IllegalArgumentException("there is no " + name + " in " + json);
    return match.group(1);
  }

  private String send(String method, String path, String body)
      throws IOException, InterruptedException {
    return control(method, this.path + path, body);
  }

  private static String control(String method, String path, String body)
      throws IOException, InterruptedException {
    if (CONTROL_URL == null) {
      throw new IOException("there is no emulator: run `hosting-emulator exec -- mvn test`");
    }
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(CONTROL_URL + path));
    if (CONTROL_TOKEN != null) request.header("X-Control-Token", CONTROL_TOKEN);
    request.method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
    HttpResponse<String> response = HTTP.send(request.build(), BodyHandlers.ofString());
    if (response.statusCode() >= 400) throw new IOException(field(response.body(), "detail"));
    return response.body();
  }
}
