// Uses the control API from Java: creates a world with a token, advances its clock, arms a fault, reads the request
// log, and deletes the world.

import control.ApiClient;
import control.ApiException;
import control.api.ClockApi;
import control.api.FaultsApi;
import control.api.RequestsApi;
import control.api.WorldsApi;
import control.model.Abort;
import control.model.Advance;
import control.model.Fault;
import control.model.NewClock;
import control.model.NewToken;
import control.model.NewWorld;
import control.model.NewWorldSummary;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;

public final class World {
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  public static void main(String[] arguments) throws Exception {
    String url = System.getenv().getOrDefault("HOSTING_EMULATOR_URL", "http://127.0.0.1:4620");
    ApiClient control = new ApiClient();
    control.updateBaseUri(url + "/_emulator");
    WorldsApi worlds = new WorldsApi(control);

    NewClock frozen = new NewClock().mode(NewClock.ModeEnum.FROZEN);
    NewWorldSummary world = worlds.createWorld(new NewWorld().clock(frozen).token(new NewToken()));
    String name = world.getName();

    HttpResponse<String> accepted = applyDomains(world, "one");
    String operation = control.getObjectMapper().readTree(accepted.body()).get("id").asText();
    Advance untilItEnds = new Advance().untilOperation(operation);
    var moved = new ClockApi(control).advanceClock(name, untilItEnds);
    System.out.printf("time moved by %d ms%n", moved.getMovedMs());

    Fault unavailable = new Fault().abort(new Abort().code(Abort.CodeEnum.SERVICE_UNAVAILABLE)).times(1);
    System.out.println(new FaultsApi(control).armFault(name, unavailable).getId() + " is armed");
    HttpResponse<String> refused = applyDomains(world, "two");

    var log = new RequestsApi(control)
        .listRequests(name, null, null, null, null, null, null, null, null, 5, false);
    System.out.print(refused.statusCode());
    log.getItems().forEach(row -> System.out.printf(" %s %d", row.getMethod(), row.getStatus()));
    System.out.println();

    try {
      worlds.showWorld("nothing");
    } catch (ApiException nothing) {
      System.out.println(nothing.getCode() + " " + nothing.getResponseBody());
    }
    worlds.deleteWorld(name);
  }

  private static HttpResponse<String> applyDomains(NewWorldSummary world, String key)
      throws IOException, InterruptedException {
    String project = world.getProjects().get(0).getId();
    URI domains = URI.create(world.getBaseUrl() + "/v1/projects/" + project + "/domains");
    HttpRequest request = HttpRequest.newBuilder(domains)
        .header("Authorization", "Bearer " + world.getToken().getAccessToken())
        .header("Idempotency-Key", key)
        .PUT(BodyPublishers.noBody())
        .build();
    return HTTP.send(request, BodyHandlers.ofString());
  }
}
