package client_test

import (
	"encoding/json"
	"net/http"
	"testing"
)

func TestDomainsAreAppliedAfterAnOutage(t *testing.T) {
	w := freshWorld(t)
	w.addFault(`{"abort": {"code": "service_unavailable"}, "times": 1}`)

	refused := applyDomains(t, w)
	accepted := applyDomains(t, w)

	if refused.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("the first response has status %d", refused.StatusCode)
	}
	var operation struct{ ID string }
	if err := json.NewDecoder(accepted.Body).Decode(&operation); err != nil {
		t.Fatal(err)
	}
	if state := w.until(operation.ID); state != "succeeded" {
		t.Errorf("the operation has state %s", state)
	}
	if count := len(w.requests()); count != 2 {
		t.Errorf("%d requests are in the log", count)
	}
}

func applyDomains(t *testing.T, w *world) *http.Response {
	t.Helper()
	request, err := http.NewRequest("PUT", w.url("/v1/projects/"+w.project("shop")+"/domains"), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+w.Token.AccessToken)
	request.Header.Set("Idempotency-Key", "domains-1")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	return response
}
