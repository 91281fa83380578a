import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;

/** Checks that domains are applied after an outage. */
public final class DomainsCheck {
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  public static void main(String[] arguments) throws Exception {
    try (EmulatorWorld world = new EmulatorWorld()) {
      world.addFault("{\"abort\": {\"code\": \"service_unavailable\"}, \"times\": 1}");

      HttpResponse<String> refused = applyDomains(world);
      HttpResponse<String> accepted = applyDomains(world);

      System.out.println(refused.statusCode());
      System.out.println(world.until(EmulatorWorld.field(accepted.body(), "id")));
    }
  }

  private static HttpResponse<String> applyDomains(EmulatorWorld world)
      throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(world.url("/v1/projects/" + world.id("shop") + "/domains"))
            .header("Authorization", "Bearer " + world.token)
            .header("Idempotency-Key", "domains-1")
            .PUT(BodyPublishers.noBody())
            .build();
    return HTTP.send(request, BodyHandlers.ofString());
  }
}
