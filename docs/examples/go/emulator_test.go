// Creates fresh worlds in the hosting emulator, for example one for each test. Copy this file into your
// package. It requires Go 1.18 or newer, and no modules. `hosting-emulator exec -- CMD` sets the
// environment variables that it reads. `hosting-emulator env` prints them for your shell, except the
// control token.
package client_test

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
)

// world is an isolated, emulated hosting service. Its clock is frozen until the test advances it.
type world struct {
	t        *testing.T
	Name     string `json:"name"`
	BaseURL  string `json:"base_url"` // the part of the world's URLs that precedes /v1/…
	Token    token  `json:"token"`    // an access token for the user owner
	Projects []struct {
		Alias string `json:"alias"`
		ID    string `json:"id"`
	} `json:"projects"`
}

type token struct {
	AccessToken string `json:"access_token"`
}

// freshWorld creates a world, and deletes it when the test ends.
func freshWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t}
	w.control("POST", "/worlds", map[string]any{"clock": map[string]any{"mode": "frozen"}, "token": map[string]any{}}, w)
	t.Cleanup(func() { w.send("DELETE", "", nil, nil) })
	return w
}

// url returns the full URL of a path. url.ResolveReference would drop the path of the world.
func (w *world) url(path string) string { return w.BaseURL + path }

// project returns the id of a project.
func (w *world) project(alias string) string {
	w.t.Helper()
	for _, project := range w.Projects {
		if project.Alias == alias {
			return project.ID
		}
	}
	w.t.Fatalf("there is no project %s", alias)
	return ""
}

// tokenOf returns an access token for another user, such as reader.
func (w *world) tokenOf(user string) string {
	w.t.Helper()
	var created token
	w.send("POST", "/tokens", map[string]any{"user": user}, &created)
	return created.AccessToken
}

// advance advances the clock, for example by 10m.
func (w *world) advance(by string) {
	w.t.Helper()
	w.send("POST", "/clock/advance", map[string]any{"by": by}, nil)
}

// until advances the clock until an operation ends, and returns the operation's final state.
func (w *world) until(operation string) string {
	w.t.Helper()
	w.send("POST", "/clock/advance", map[string]any{"until_operation": operation}, nil)
	var ended struct{ State string }
	w.send("GET", "/operations/"+operation+"/why", nil, &ended)
	return ended.State
}

// addFault arms a fault in JSON, such as {"abort": {"code": "rate_limited"}, "times": 1}.
func (w *world) addFault(fault string) {
	w.t.Helper()
	w.send("POST", "/faults", json.RawMessage(fault), nil)
}

// addOutcome chooses how the next operation ends, in JSON, such as {"fail": {"phase": "deploying"}}.
func (w *world) addOutcome(outcome string) {
	w.t.Helper()
	w.send("POST", "/outcomes", json.RawMessage(outcome), nil)
}

// requests returns the method and status of each request to this world, newest first. The emulator
// keeps the latest 1,000 requests to a world.
func (w *world) requests() []request {
	w.t.Helper()
	var log struct{ Items []request }
	w.send("GET", "/requests?trail=false&limit=1000", nil, &log)
	return log.Items
}

type request struct {
	Method string `json:"method"`
	Status int    `json:"status"`
}

func (w *world) send(method, path string, body, response any) {
	w.t.Helper()
	w.control(method, "/worlds/"+w.Name+path, body, response)
}

func (w *world) control(method, path string, body, response any) {
	w.t.Helper()
	url := os.Getenv("HOSTING_CONTROL_URL")
	if url == "" {
		w.t.Fatal("there is no emulator: run `hosting-emulator exec -- go test ./...`")
	}
	text := ""
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			w.t.Fatal(err)
		}
		text = string(encoded)
	}
	call, err := http.NewRequest(method, url+path, strings.NewReader(text))
	if err != nil {
		w.t.Fatal(err)
	}
	call.Header.Set("X-Control-Token", os.Getenv("HOSTING_EMULATOR_CONTROL_TOKEN"))
	received, err := http.DefaultClient.Do(call)
	if err != nil {
		w.t.Fatal(err)
	}
	defer received.Body.Close()
	if received.StatusCode >= 400 {
		var problem struct{ Detail string }
		_ = json.NewDecoder(received.Body).Decode(&problem)
		w.t.Fatalf("%s %s: %s", method, path, problem.Detail)
	}
	if response != nil {
		if err := json.NewDecoder(received.Body).Decode(response); err != nil {
			w.t.Fatal(err)
		}
	}
}
