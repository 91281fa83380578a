using System.Net;
using System.Net.Http.Headers;
using System.Net.Http.Json;
using System.Text.Json;
using Xunit;

public sealed class DomainsTest
{
    [Fact]
    public async Task DomainsAreAppliedAfterAnOutage()
    {
        await using var world = await EmulatorWorld.CreateAsync();
        await world.AddFaultAsync(new { abort = new { code = "service_unavailable" }, times = 1 });

        using var refused = await ApplyDomainsAsync(world);
        using var accepted = await ApplyDomainsAsync(world);

        Assert.Equal(HttpStatusCode.ServiceUnavailable, refused.StatusCode);
        var operation = await accepted.Content.ReadFromJsonAsync<JsonElement>();
        Assert.Equal("succeeded", await world.UntilAsync(operation.GetProperty("id").GetString()!));
        Assert.Equal(2, (await world.RequestsAsync()).GetArrayLength());
    }

    private static async Task<HttpResponseMessage> ApplyDomainsAsync(EmulatorWorld world)
    {
        using var client = new HttpClient();
        var url = world.Url($"/v1/projects/{world.Project("shop")}/domains");
        using var request = new HttpRequestMessage(HttpMethod.Put, url);
        request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", world.Token);
        request.Headers.Add("Idempotency-Key", "domains-1");
        return await client.SendAsync(request);
    }
}
