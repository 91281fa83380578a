using System.Net.Http.Json;
using System.Text.Json;

/// <summary>
/// A fresh world in the hosting emulator, for example for a test. Copy this file into your test project.
/// <c>hosting-emulator exec -- CMD</c> sets the environment variables that it reads.
/// <c>hosting-emulator env</c> prints them for your shell, except the control token.
/// </summary>
public sealed class EmulatorWorld : IAsyncDisposable
{
    private static readonly HttpClient Http = new();
    private static readonly string? ControlUrl = Environment.GetEnvironmentVariable("HOSTING_CONTROL_URL");
    private static readonly string? ControlToken =
        Environment.GetEnvironmentVariable("HOSTING_EMULATOR_CONTROL_TOKEN");

    private readonly JsonElement _summary;

    private EmulatorWorld(JsonElement summary) => _summary = summary;

    /// <summary>The part of the world's URLs that precedes <c>/v1/…</c>.</summary>
    public string BaseUrl => Text(_summary, "base_url");

    /// <summary>An access token for the user <c>owner</c>.</summary>
    public string Token => Text(_summary.GetProperty("token"), "access_token");

    /// <summary>Creates a world. Its clock is frozen until the test advances it.</summary>
    public static async Task<EmulatorWorld> CreateAsync()
    {
        var body = new { clock = new { mode = "frozen" }, token = new { } };
        return new EmulatorWorld(await ControlAsync(HttpMethod.Post, "/worlds", body));
    }

    /// <summary>Returns the full URL of a path. <c>new Uri(baseUri, path)</c> would drop the world.</summary>
    public string Url(string path) => BaseUrl + path;

    /// <summary>Returns the id of a project.</summary>
    public string Project(string alias) =>
        Text(_summary.GetProperty("projects").EnumerateArray().First(project => Text(project, "alias") == alias), "id");

    /// <summary>Returns an access token for another user, such as <c>reader</c>.</summary>
    public async Task<string> TokenOfAsync(string user) =>
        Text(await SendAsync(HttpMethod.Post, "/tokens", new { user }), "access_token");

    /// <summary>Advances the clock, for example by <c>10m</c>.</summary>
    public Task AdvanceAsync(string by) => SendAsync(HttpMethod.Post, "/clock/advance", new { by });

    /// <summary>Advances the clock until an operation ends, and returns the operation's final state.</summary>
    public async Task<string> UntilAsync(string operation)
    {
        await SendAsync(HttpMethod.Post, "/clock/advance", new { until_operation = operation });
        return Text(await SendAsync(HttpMethod.Get, $"/operations/{operation}/why"), "state");
    }

    /// <summary>Arms a fault, such as <c>new { abort = new { code = "rate_limited" }, times = 1 }</c>.</summary>
    public Task AddFaultAsync(object fault) => SendAsync(HttpMethod.Post, "/faults", fault);

    /// <summary>
    /// Chooses how the next operation ends, for example with <c>new { fail = new { phase = "deploying" } }</c>.
    /// </summary>
    public Task AddOutcomeAsync(object outcome) => SendAsync(HttpMethod.Post, "/outcomes", outcome);

    /// <summary>
    /// Returns the requests to this world, newest first. Each contains its response's <c>status</c>, but no bodies.
    /// The emulator keeps the latest 1,000 requests to a world.
    /// </summary>
    public async Task<JsonElement> RequestsAsync() =>
        (await SendAsync(HttpMethod.Get, "/requests?trail=false&limit=1000")).GetProperty("items");

    /// <summary>Deletes the world.</summary>
    public async ValueTask DisposeAsync() => await SendAsync(HttpMethod.Delete, "");

    private Task<JsonElement> SendAsync(HttpMethod method, string path, object? body = null) =>
        ControlAsync(method, $"/worlds/{Text(_summary, "name")}{path}", body);

    private static async Task<JsonElement> ControlAsync(HttpMethod method, string path, object? body = null)
    {
        if (ControlUrl is null)
        {
            throw new InvalidOperationException("There is no emulator: run `hosting-emulator exec -- dotnet test`.");
        }
        using var request = new HttpRequestMessage(method, ControlUrl + path);
        if (ControlToken is not null) request.Headers.Add("X-Control-Token", ControlToken);
        if (body is not null) request.Content = JsonContent.Create(body);
        using var response = await Http.SendAsync(request);
        var text = await response.Content.ReadAsStringAsync();
        if (!response.IsSuccessStatusCode) throw new InvalidOperationException(text);
        return text.Length == 0 ? default : JsonDocument.Parse(text).RootElement;
    }

    private static string Text(JsonElement element, string name) => element.GetProperty(name).GetString()!;
}
