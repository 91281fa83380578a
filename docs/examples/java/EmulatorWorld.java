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
 * A fresh world in the hosting emulator, for example for a test. Closing the world deletes it. Copy this file into your
 * project. It requires Java 11 or newer, and no libraries. {@code hosting-emulator exec -- CMD} sets the environment
 * variables that it reads. {@code hosting-emulator env} prints them for your shell, except the control token.
 */
public final class EmulatorWorld implements AutoCloseable {
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final String CONTROL_URL = System.getenv("HOSTING_CONTROL_URL");
  private static final String CONTROL_TOKEN = System.getenv("HOSTING_EMULATOR_CONTROL_TOKEN");

  /** The part of the world's URLs that precedes {@code /v1/…}. */
  public final String baseUrl;

  /** An access token for the user {@code owner}. */
  public final String token;

  private final String summary;
  private final String path;

  /** Create a world. Its clock is frozen until the test advances it. */
  public EmulatorWorld() throws IOException, InterruptedException {
    summary = control("POST", "/worlds", "{\"clock\": {\"mode\": \"frozen\"}, \"token\": {}}");
    baseUrl = field(summary, "base_url");
    token = field(summary, "access_token");
    path = "/worlds/" + field(summary, "name");
  }

  /** Return the full URL of a path. {@code URI.resolve} would drop the path of the world. */
  public URI url(String path) {
    return URI.create(baseUrl + path);
  }

  /** Return the id of a project, organization or user. */
  public String id(String alias) {
    return field(summary.substring(summary.indexOf("\"alias\":\"" + alias + "\"")), "id");
  }

  /** Return an access token for another user, such as {@code reader}. */
  public String tokenOf(String user) throws IOException, InterruptedException {
    return field(send("POST", "/tokens", "{\"user\": \"" + user + "\"}"), "access_token");
  }

  /** Advance the clock, for example by {@code 10m}. */
  public void advance(String by) throws IOException, InterruptedException {
    send("POST", "/clock/advance", "{\"by\": \"" + by + "\"}");
  }

  /** Advance the clock until an operation ends, and return the operation's final state. */
  public String until(String operation) throws IOException, InterruptedException {
    send("POST", "/clock/advance", "{\"until_operation\": \"" + operation + "\"}");
    return field(send("GET", "/operations/" + operation + "/why", null), "state");
  }

  /** Arm a fault in JSON, such as {"abort": {"code": "rate_limited"}, "times": 1}. */
  public void addFault(String fault) throws IOException, InterruptedException {
    send("POST", "/faults", fault);
  }

  /** Choose how the next operation ends, in JSON, such as {"fail": {"phase": "deploying"}}. */
  public void addOutcome(String outcome) throws IOException, InterruptedException {
    send("POST", "/outcomes", outcome);
  }

  /**
   * Return the requests to this world as JSON, newest first. Each contains its response's status, but no bodies. The
   * emulator keeps the latest 1,000 requests to a world.
   */
  public String requests() throws IOException, InterruptedException {
    return send("GET", "/requests?trail=false&limit=1000", null);
  }

  /** Delete the world. */
  @Override
  public void close() throws IOException, InterruptedException {
    send("DELETE", "", null);
  }

  /** Return the first value of a text field. If your project has a JSON library, use that instead. */
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
